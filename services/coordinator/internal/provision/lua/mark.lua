-- ARGV: token. It sets the marker, unless that carries a higher mark, or the same one in
-- another token, and answers with that mark or an empty string.
-- The highest mark. What is above it was written by nobody's Mark.
local HIGHEST = '9223372036854775807'

local error = replica()
if error then return error end
local token = redis.call('GET', KEYS[2]) or ''
local old, mark = string.match(token, '^(%d+):'), string.match(ARGV[1], '^%d+')
local valid = old and not above(old, HIGHEST)
if valid and token ~= ARGV[1] and not above(mark, old) then return {'ok', old} end
redis.call('SET', KEYS[2], ARGV[1])
return {'ok', ''}
