-- ARGV: token. It sets the marker, unless that carries a higher mark, and answers with
-- the higher mark or an empty string.
-- The highest mark. What is above it was written by nobody's Mark.
local HIGHEST = '9223372036854775807'

local error = replica()
if error then return error end
local old = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+):')
if old and above(old, HIGHEST) then old = nil end
if old and above(old, string.match(ARGV[1], '^%d+')) then return {'ok', old} end
redis.call('SET', KEYS[2], ARGV[1])
return {'ok', ''}
