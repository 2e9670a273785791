-- KEYS: record, events. ARGV: ms that the history stays, event or '', length of the
-- history, the field that could not be read, and what it held if it was there. The field 'key' means that the key holds
-- something else than a hash. Removes the record if that is still so (protocol M6).
local kind = redis.call('TYPE', KEYS[1])
if type(kind) == 'table' then kind = kind.ok end
if kind == 'none' then return {'missing'} end
if ARGV[4] == 'key' then
  if kind == 'hash' then return {'conflict', 'type'} end
else
  if kind ~= 'hash' then return {'conflict', 'type'} end
  if redis.call('HGET', KEYS[1], ARGV[4]) ~= (ARGV[5] or false) then return {'conflict', ARGV[4]} end
end
local now = clock()
remember(KEYS[2], ARGV[3], '0', ARGV[2], now)
redis.call('DEL', KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return {'ok', now}
