-- KEYS: record. ARGV: the history that the answer of a write named. Writes the token once
-- more as it is, so that a WAIT on this connection is about what was written before
-- (protocol M3). Another server, or this one with another history, may lack that write.
local this, refused = identity()
if refused then return refused end
if this ~= ARGV[1] then return {'conflict', 'store identity'} end
local stored, failed = fetch(KEYS[1], {'token'})
if failed then return failed end
if not stored.token then return {'missing'} end
return put(KEYS[1], {'token', stored.token}) or {'ok'}
