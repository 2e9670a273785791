-- What the scripts share; it stands in front of each. Data comes as KEYS and ARGV only.
-- KEYS[1] is a shard's key, KEYS[2] its marker, KEYS[3], where there is one, the key of
-- its retired data; they share a hash slot. ARGV[1] is the token. A script answers with a
-- list whose first entry is a word. It may run twice.

local RETIRED = 'retired:'

-- above compares two whole numbers written without sign and leading zeros. A Lua number
-- would be inexact from 2^53 on.
local function above(a, b)
  if #a ~= #b then return #a > #b end
  return a > b
end

-- named turns a flat list of names and values into a table.
local function named(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

-- kind returns the type of a key, 'none' where there is none.
local function kind(key)
  return redis.call('TYPE', key).ok
end

-- replica returns an error where a replica was asked: what it holds or lacks is no answer
-- (protocol L4). Behind it comes whether a replica follows, which has done with copying.
-- Where INFO is refused nobody can tell.
local function replica()
  local info = redis.pcall('INFO', 'replication')
  if type(info) ~= 'string' then return nil, false end
  if string.find(info, 'role:slave', 1, true) then
    return redis.error_reply('READONLY the shard was asked for on a replica'), false
  end
  return nil, string.find(info, '\nslave%d+:[^\r\n]*state=online') ~= nil
end

-- refused answers for a script that must not run: on a replica, or when the marker is not
-- the script's token, because a later phase has overwritten it (protocol L2).
local function refused()
  local error = replica()
  if error then return error end
  local token = redis.call('GET', KEYS[2])
  if token ~= ARGV[1] then return {'stale', token or ''} end
end

-- retiree returns the id of the resharding that sealed the shard, nil for another string
-- or none.
local function retiree(key)
  if kind(key) ~= 'string' then return nil end
  local value = redis.call('GET', key)
  if string.sub(value, 1, #RETIRED) ~= RETIRED then return nil end
  return string.sub(value, #RETIRED + 1)
end

-- foreign answers for a key that holds something else than a shard.
local function foreign(type)
  return redis.error_reply('WRONGTYPE the shard key holds a ' .. type)
end

-- within returns where a group begins: at its start, unless the stream has not come that
-- far. Then the start is from an earlier life of the key, and entries of this one may have
-- lower ids, which the group would never see (protocol L12).
local function within(start, last)
  local ms, sequence = string.match(start, '^0*(%d+)%-0*(%d+)$')
  if not ms then return start end
  local lastMs, lastSequence = string.match(last, '^(%d+)%-(%d+)$')
  if not lastMs or above(ms, lastMs) or ms == lastMs and above(sequence, lastSequence) then return '0' end
  return start
end

-- provide makes the shard with the groups at ARGV[at], each with its start behind it, and
-- returns what it answers: the names of the groups that were not there. An existing
-- cursor is never moved (field case F14).
local function provide(at)
  if retiree(KEYS[1]) then redis.call('DEL', KEYS[1]) end
  local now, last = kind(KEYS[1]), ''
  if now == 'stream' then
    last = named(redis.call('XINFO', 'STREAM', KEYS[1]))['last-generated-id']
  elseif now ~= 'none' then
    return foreign(now)
  end
  local answer = {'ok'}
  for i = at, #ARGV, 2 do
    local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[i], within(ARGV[i + 1], last), 'MKSTREAM')
    if made.ok then
      answer[#answer + 1] = ARGV[i]
    elseif string.sub(made.err, 1, 9) ~= 'BUSYGROUP' then
      return made
    end
  end
  return answer
end
