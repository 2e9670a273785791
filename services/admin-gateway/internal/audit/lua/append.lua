-- Writes a record behind the head for which its hash was made, or nothing.
-- KEYS: the stream, its head, what this gateway wrote last; all in one slot.
-- ARGV: sequence and hash of the head that is expected, sequence and hash of the record,
--       the record, the cap, for how long this gateway's last record is remembered in ms.
-- Answers 1 when the record is there, else 0, and the head's sequence and hash.
local head = redis.call('HMGET', KEYS[2], 'sequence', 'hash')
local sequence, hash = tonumber(head[1] or 0), head[2] or ''
if not head[1] then
  -- A head that was lost is that of the newest record, which says itself what it is.
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  if newest then
    local fields = {}
    for i = 1, #newest[2], 2 do fields[newest[2][i]] = newest[2][i + 1] end
    sequence, hash = tonumber(fields.sequence or 0) or 0, fields.hash or ''
  end
end
if sequence ~= tonumber(ARGV[1]) or hash ~= ARGV[2] then
  -- The call may be a second one whose first was carried out and not answered.
  if redis.call('GET', KEYS[3]) == ARGV[4] then return {1, sequence, hash} end
  return {0, sequence, hash}
end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[6], '*', 'sequence', ARGV[3], 'hash', ARGV[4], 'record', ARGV[5])
redis.call('HSET', KEYS[2], 'sequence', ARGV[3], 'hash', ARGV[4])
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[7])
return {1, tonumber(ARGV[3]), ARGV[4]}
