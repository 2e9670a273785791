-- KEYS: coordinators. ARGV: id, reads, writes, ms; no ms withdraws the coordinator. Answers the
-- announcements that still hold, each as id and 'until reads writes'. Others are deleted.
local this, refused = identity()
if refused then return refused end
local now = clock()
local entries = redis.call('HGETALL', KEYS[1])
local answer = {'ok'}
for i = 1, #entries, 2 do
  local till = tonumber(string.match(entries[i + 1], '^(%d+) %d+ %d+$'))
  if entries[i] ~= ARGV[1] then
    if till and till > now then
      answer[#answer + 1] = entries[i]
      answer[#answer + 1] = entries[i + 1]
    else
      redis.call('HDEL', KEYS[1], entries[i])
    end
  end
end
if ARGV[4] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return answer
end
local value = digits(now + ARGV[4]) .. ' ' .. ARGV[2] .. ' ' .. ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], value)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
answer[#answer + 1] = ARGV[1]
answer[#answer + 1] = value
return answer
