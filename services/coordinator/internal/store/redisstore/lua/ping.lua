-- KEYS: index. Answers clock and identity; a replica refuses.
local this, refused = identity()
if refused then return refused end
return {'ok', clock(), this}
