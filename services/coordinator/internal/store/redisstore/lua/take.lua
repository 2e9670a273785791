-- KEYS: lease. ARGV: token, ms. Asked again with the token that it has, it is taken.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'ok'} end
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return {'busy'} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'ok'}
