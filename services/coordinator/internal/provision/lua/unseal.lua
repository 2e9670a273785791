-- ARGV: token, resharding id, then names and starts of groups. It puts a sealed shard back
-- with its data, or makes it anew where the data is gone (protocol L8).
local error = refused()
if error then return error end
local now = kind(KEYS[1])
if now == 'stream' then return {'ok'} end
if now ~= 'none' and retiree(KEYS[1]) ~= ARGV[2] then return foreign(now) end
if kind(KEYS[3]) ~= 'stream' then return provide(3) end
if now ~= 'none' then redis.call('DEL', KEYS[1]) end
redis.call('RENAMENX', KEYS[3], KEYS[1])
redis.call('PERSIST', KEYS[1])
return {'ok'}
