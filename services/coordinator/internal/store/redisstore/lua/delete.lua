-- KEYS: record, events. ARGV: revision, token, ms that the history stays.
local stored, failed = fetch(KEYS[1], {'revision', 'token'})
if failed then return failed end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then return differs(KEYS[1], stored) end
redis.call('DEL', KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {'ok', clock()}
