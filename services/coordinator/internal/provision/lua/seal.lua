-- ARGV: token, resharding id, retention in ms (0 deletes the data, -1 keeps it), ms that
-- the string in the key's place lives (0 is for ever), 1 when an empty tail is proof
-- enough (protocol L9), then names of groups. Its report ends with 1 where a replica has to
-- have the seal before it counts.
local error = refused()
if error then return error end
local _, followed = replica()
local found = judge(6)
if found.retired == ARGV[2] then return report('sealed', found, followed) end
local proven = found.reason == ''
if ARGV[5] == '1' then
  proven = proven or found.reason == 'LAG_UNKNOWN' or found.reason == 'LAG_CONTRADICTS_TAIL'
end
if not proven then return report('ok', found) end
if ARGV[3] == '0' then
  redis.call('UNLINK', KEYS[1])
elseif redis.call('RENAMENX', KEYS[1], KEYS[3]) == 0 then
  return report('occupied', found) -- retired data is never overwritten
elseif ARGV[3] == '-1' then
  redis.call('PERSIST', KEYS[3])
else
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
if ARGV[4] == '0' then
  redis.call('SET', KEYS[1], RETIRED .. ARGV[2])
else
  redis.call('SET', KEYS[1], RETIRED .. ARGV[2], 'PX', ARGV[4])
end
return report('sealed', found, followed)
