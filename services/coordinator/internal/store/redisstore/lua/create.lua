-- KEYS: record, events. ARGV: token, schema, layout, aggregate, event or '', length of
-- the history. A history that was left to end is kept from now on. Answers the clock,
-- and which history a replica follows.
local _, replica, followed = identity()
if replica then return replica end
if redis.call('EXISTS', KEYS[1]) == 1 then
  local stored = fetch(KEYS[1], {'revision', 'token'})
  if stored and stored.revision == '1' and stored.token == ARGV[1] then return {'ok', clock(), followed} end
  return {'exists'}
end
local now = clock()
local refused = remember(KEYS[2], ARGV[6], '1', ARGV[5], now) or put(KEYS[1], {
  'revision', '1', 'token', ARGV[1], 'schemaVersion', ARGV[2], 'layoutVersion', ARGV[3],
  'aggregate', ARGV[4], 'updatedAt', digits(now), 'servedAt', '0',
})
if refused then return refused end
redis.call('PERSIST', KEYS[2])
return {'ok', now, followed}
