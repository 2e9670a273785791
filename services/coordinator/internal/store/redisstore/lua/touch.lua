-- KEYS: record. ARGV: revision, token, served every ms, beats, newcomers, then these.
-- No field of the aggregate is read here, and INFO only when the version differs.
local at = 6
local fields = {'revision', 'token', 'servedAt'}
for i = 0, ARGV[4] - 1 do fields[i + 4] = ARGV[at + 4 * i] end
local stored, failed = fetch(KEYS[1], fields)
if failed then return failed end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then return differs(KEYS[1], stored) end

local now = clock()
local answer, writes = {'ok', now}, {}
local unreadable = hear(stored, at, tonumber(ARGV[4]), tonumber(ARGV[5]), now, answer, writes)
if unreadable then return {'corrupt', unreadable} end
-- A servedAt of the future belongs to a clock that has gone back.
local served = tonumber(stored.servedAt or 0) or 0
if now < served or now >= served + ARGV[3] then
  writes[#writes + 1] = 'servedAt'
  writes[#writes + 1] = digits(now)
end
return put(KEYS[1], writes) or answer
