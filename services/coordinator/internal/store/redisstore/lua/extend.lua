-- KEYS: lease. ARGV: token, ms.
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return {'busy'} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'ok'}
