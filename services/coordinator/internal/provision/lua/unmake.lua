-- ARGV: token. It deletes the shard if it is a stream to which nothing was ever added, and
-- answers whether it did.
local error = refused()
if error then return error end
if kind(KEYS[1]) ~= 'stream' then return {'ok', 0} end
local stream = named(redis.call('XINFO', 'STREAM', KEYS[1]))
local last = stream['last-generated-id']
if stream['length'] ~= 0 or (stream['entries-added'] or 0) ~= 0 or (last ~= '0-0' and last ~= '') then
  return {'ok', 0}
end
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  if named(group)['pending'] ~= 0 then return {'ok', 0} end
end
redis.call('UNLINK', KEYS[1])
return {'ok', 1}
