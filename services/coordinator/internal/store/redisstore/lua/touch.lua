-- KEYS: record. ARGV: revision, token, served every ms, identity or '', beats, newcomers,
-- then these. No field of the aggregate is read here, and INFO only when an identity is
-- given and where the touch is refused.
local beats, at = tonumber(ARGV[5]), 7
local fields = {'revision', 'token', 'servedAt'}
for i = 0, beats - 1 do fields[i + 4] = ARGV[at + 4 * i] end
local stored, failed = fetch(KEYS[1], fields)
if failed then return failed end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then return differs(KEYS[1], stored) end

if ARGV[4] ~= '' and ARGV[4] ~= 'none' then
  local this, replica = identity()
  if replica then return replica end
  if this ~= ARGV[4] then return {'conflict', 'store identity'} end
end

local now = clock()
local lapsed = ARGV[4] == '' and lapses(stored, at, beats, now)
if lapsed then
  local _, replica = identity()
  return replica or {'conflict', 'lease'}
end
local answer, writes = {'ok', now}, {}
local unreadable = hear(stored, at, beats, tonumber(ARGV[6]), now, answer, writes)
if unreadable then return {'corrupt', unreadable} end
-- A servedAt of the future belongs to a clock that has gone back.
local served = tonumber(stored.servedAt or 0) or 0
if now < served or now >= served + ARGV[3] then
  writes[#writes + 1] = 'servedAt'
  writes[#writes + 1] = digits(now)
end
return put(KEYS[1], writes) or answer
