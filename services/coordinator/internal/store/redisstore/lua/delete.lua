-- KEYS: record, events. ARGV: revision, token, ms that the history stays, event or '', length of the
-- history. What is to go goes also where the history does not take the event: a delete
-- gives memory back.
local stored, failed = fetch(KEYS[1], {'revision', 'token'})
if failed then return failed end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then return differs(KEYS[1], stored) end
local now = clock()
remember(KEYS[2], ARGV[5], ARGV[1], ARGV[4], now)
redis.call('DEL', KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {'ok', now}
