-- KEYS: record. ARGV: revision and token that the caller has.
-- Answers clock, identity and fields with their values: all of them after ok, all but
-- the aggregate after known, when the caller has that version already.
local this, refused = identity()
if refused then return refused end
local stored, failed = fetch(KEYS[1], {'revision', 'token'})
if failed then return failed end
if stored.revision ~= ARGV[1] or stored.token ~= ARGV[2] then
  local whole = redis.call('HGETALL', KEYS[1])
  if #whole == 0 then return {'missing'} end
  return {'ok', clock(), this, whole}
end

local fields, part = {}, {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if field ~= 'aggregate' then fields[#fields + 1] = field end
end
stored = fetch(KEYS[1], fields)
for _, field in ipairs(fields) do
  part[#part + 1] = field
  part[#part + 1] = stored[field]
end
return {'known', clock(), this, part}
