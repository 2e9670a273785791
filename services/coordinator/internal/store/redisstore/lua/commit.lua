-- KEYS: record, events, lease. ARGV: previous revision, previous token, revision,
-- token, schema, layout, aggregate, identity or '', lease token or '', event or '',
-- length of the history, and how many unmoved, forgotten, beats and newcomers follow.
-- Unmoved: field, deadline, sequence. Forgotten: the fields of liveness and successor.
-- Answers the clock, deadline and applied of each beat, and which history a replica follows.
local unmoved, forgotten, beats, newcomers = tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15])
local atUnmoved = 16
local atForgotten = atUnmoved + 3 * unmoved
local atBeats = atForgotten + 2 * forgotten

local fields = {'revision', 'token'}
for i = 0, unmoved - 1 do fields[#fields + 1] = ARGV[atUnmoved + 3 * i] end
for i = 0, beats - 1 do fields[#fields + 1] = ARGV[atBeats + 4 * i] end
local stored, failed = fetch(KEYS[1], fields)
if failed then return failed end
local this, replica, followed = identity()
if replica then return replica end

local now = clock()
local answer = {'ok', now}
if stored.revision == ARGV[3] and stored.token == ARGV[4] then
  -- The same commit again: its answer was lost.
  for i = 0, beats - 1 do
    local value = stored[ARGV[atBeats + 4 * i]] or ''
    local ends, told = string.match(value, '^(%d+) %d+ (.*)$')
    answer[#answer + 1] = tonumber(ends or 0)
    answer[#answer + 1] = told == ARGV[atBeats + 4 * i + 1] and 1 or 0
  end
  answer[#answer + 1] = followed
  return answer
end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then return differs(KEYS[1], stored) end

if ARGV[8] ~= '' and this ~= ARGV[8] then return {'conflict', 'store identity'} end
if ARGV[9] ~= '' and redis.pcall('GET', KEYS[3]) ~= ARGV[9] then return {'conflict', 'lease'} end
for at = atUnmoved, atForgotten - 1, 3 do
  local deadline, sequence = '0', '0'
  if stored[ARGV[at]] then
    deadline, sequence = string.match(stored[ARGV[at]], '^(%d+) %d+ (%d+) ')
    if not deadline then return {'corrupt', ARGV[at]} end
  end
  if deadline ~= ARGV[at + 1] or sequence ~= ARGV[at + 2] then return {'conflict', 'liveness'} end
end

for at = atForgotten, atBeats - 1 do stored[ARGV[at]] = false end
local writes = {
  'revision', ARGV[3], 'token', ARGV[4], 'schemaVersion', ARGV[5], 'layoutVersion', ARGV[6],
  'aggregate', ARGV[7], 'updatedAt', digits(now), 'servedAt', digits(now),
}
local unreadable = hear(stored, atBeats, beats, newcomers, now, answer, writes)
if unreadable then return {'corrupt', unreadable} end

local refused = remember(KEYS[2], ARGV[11], ARGV[3], ARGV[10], now) or put(KEYS[1], writes)
if refused then return refused end
for at = atForgotten, atBeats - 1 do
  if not stored[ARGV[at]] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
answer[#answer + 1] = followed
return answer
