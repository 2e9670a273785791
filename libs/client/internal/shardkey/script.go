package shardkey

import "github.com/redis/go-redis/v9"

// Scripts are the Lua scripts of this package. They get data as KEYS and ARGV only and
// touch one key. One value serves all readers of a consumer.
type Scripts struct {
	fencedAck *redis.Script
	ackDel    *redis.Script
	forget    *redis.Script
}

// NewScripts returns the scripts; it does not connect.
func NewScripts() *Scripts {
	return &Scripts{
		fencedAck: redis.NewScript(fencedAckSource),
		ackDel:    redis.NewScript(ackDelSource),
		forget:    redis.NewScript(forgetSource),
	}
}

// fencedAckSource acknowledges those ids that are still pending for the consumer and
// answers 1 or 0 for each. ARGV: group, consumer, 1 to delete the records too, ids.
const fencedAckSource = `
local done = {}
for i = 4, #ARGV do
  local found = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
  if #found == 1 then
    redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
    if ARGV[3] == '1' then redis.call('XDEL', KEYS[1], ARGV[i]) end
    done[#done + 1] = 1
  else
    done[#done + 1] = 0
  end
end
return done`

// ackDelSource acknowledges and deletes. ARGV: group, ids.
const ackDelSource = `
for i = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[i])
  redis.call('XDEL', KEYS[1], ARGV[i])
end
return #ARGV - 1`

// forgetSource removes the consumers that have nothing pending and have been idle for long
// (field case F09). XGROUP DELCONSUMER would throw pending entries away, so the check and
// the removal are one step. ARGV: group, own name, least idle time in ms.
const forgetSource = `
local removed = 0
for _, fields in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #fields, 2 do consumer[fields[i]] = fields[i + 1] end
  if consumer.name ~= ARGV[2] and consumer.pending == 0 and consumer.idle >= tonumber(ARGV[3]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    removed = removed + 1
  end
end
return removed`
