-- ARGV: token, resharding id. It writes once more behind a seal that is there, so that who
-- has this write has the seal too, and answers with the id that it found.
local error = refused()
if error then return error end
local id = retiree(KEYS[1]) or ''
if id == ARGV[2] then redis.call('SET', KEYS[2], ARGV[1]) end
return {'ok', id}
