-- ARGV: token, since. It deletes the shard if it is a stream to which nothing was ever added.
-- It answers used for a stream that it leaves and to which something was added since then, in
-- milliseconds since 1970, else ok. A stream that is somebody else's loses its marker, so that
-- it is not taken for a shard that the record has forgotten.
local error = refused()
if error then return error end
if kind(KEYS[1]) ~= 'stream' then return {'ok'} end
local stream = named(redis.call('XINFO', 'STREAM', KEYS[1]))
local last = stream['last-generated-id']
local pending = 0
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do pending = pending + named(group)['pending'] end
if stream['length'] == 0 and (stream['entries-added'] or 0) == 0 and (last == '0-0' or last == '') and pending == 0 then
  redis.call('UNLINK', KEYS[1])
  return {'ok'}
end
if tonumber(string.match(last, '^%d+') or '0') >= tonumber(ARGV[2]) then return {'used'} end
redis.call('DEL', KEYS[2])
return {'ok'}
