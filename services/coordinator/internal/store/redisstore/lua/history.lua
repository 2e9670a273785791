-- KEYS: record, events. ARGV: the id after which to begin or '-', how many at most.
-- Answers the entries as XRANGE does; missing when neither key exists.
local _, refused = identity()
if refused then return refused end
local entries = redis.pcall('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', ARGV[2])
if entries.err then
  if string.find(entries.err, 'WRONGTYPE', 1, true) then return {'corrupt', 'events'} end
  return entries
end
if #entries == 0 and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then return {'missing'} end
return {'ok', entries}
