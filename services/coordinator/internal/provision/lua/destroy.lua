-- ARGV: token, which is not looked at, 1 when keys are to be deleted, name of a group. It
-- ends the group on the shard, and on request deletes the shard when no group is left, in
-- one step, so that a group made meanwhile keeps its data. With the shard go its marker
-- and the string of a seal in its place; retired data stays. It answers whether it
-- destroyed the group and whether it deleted the shard.
local error = replica()
if error then return error end
local whole, now = ARGV[2] == '1', kind(KEYS[1])
if now == 'stream' then
  local destroyed = redis.call('XGROUP', 'DESTROY', KEYS[1], ARGV[3])
  if not whole or #redis.call('XINFO', 'GROUPS', KEYS[1]) > 0 then return {'ok', destroyed, 0} end
  redis.call('UNLINK', KEYS[1], KEYS[2])
  return {'ok', destroyed, 1}
end
local sealed = retiree(KEYS[1])
if now ~= 'none' and not sealed then return {'foreign', now} end
if whole then redis.call('DEL', KEYS[1], KEYS[2]) end
return {'ok', 0, 0}
