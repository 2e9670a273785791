-- What the scripts share; it stands in front of each. Data comes as KEYS and ARGV only.
-- A script answers with a list whose first entry is a word: ok, known, missing, exists,
-- differs, conflict or corrupt. It checks everything before its first write, and its
-- first write is the one that may be refused (READONLY, OOM), so that nothing is ever
-- half written.

-- The most values handed to one command; Lua's stack ends at 8,000.
local CHUNK = 1000

-- clock returns the store's clock in milliseconds since 1970 (protocol T1).
local function clock()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- digits writes a number in full, never as 1.7e+12.
local function digits(number)
  return string.format('%.0f', number)
end

-- above compares two whole numbers written without sign and leading zeros. A Lua
-- number would be inexact from 2^53 on.
local function above(a, b)
  if #a ~= #b then return #a > #b end
  return a > b
end

-- identity returns the name of this server's history (protocol M1), 'none' where INFO
-- is refused. On a replica it returns an error instead: what a replica holds or lacks
-- is no answer. The third result is the name again where a replica follows, which has
-- done with copying, and empty otherwise (protocol M3).
local function identity()
  local info = redis.pcall('INFO', 'replication', 'server')
  if type(info) ~= 'string' then return 'none', nil, '' end
  if string.find(info, 'role:slave', 1, true) then
    return nil, redis.error_reply('READONLY the record was asked for on a replica')
  end
  local history = string.match(info, 'master_replid:(%x+)')
  local run = string.match(info, 'run_id:(%x+)')
  if not history or not run then return 'none', nil, '' end
  local name = history .. '/' .. run
  return name, nil, string.find(info, '\nslave%d+:[^\r\n]*state=online') and name or ''
end

-- fetch reads fields of the record into a table by name, false where absent.
local function fetch(record, fields)
  local stored = {}
  for from = 1, #fields, CHUNK do
    local upto = math.min(from + CHUNK - 1, #fields)
    local values = redis.pcall('HMGET', record, unpack(fields, from, upto))
    if values.err then return nil, values end
    for i = 1, #values do stored[fields[from + i - 1]] = values[i] end
  end
  return stored
end

-- differs answers a request whose version is not the stored one.
local function differs(record, stored)
  local _, refused = identity()
  if refused then return refused end
  if not stored.revision and not stored.token and redis.call('EXISTS', record) == 0 then
    return {'missing'}
  end
  return {'differs', stored.revision, stored.token, redis.call('HGET', record, 'schemaVersion')}
end

-- put writes field, value, field, value … and returns the error when it was refused.
local function put(record, writes)
  for from = 1, #writes, CHUNK do
    local done = redis.pcall('HSET', record, unpack(writes, from, math.min(from + CHUNK - 1, #writes)))
    if type(done) == 'table' and done.err then return done end
  end
end

-- append adds an event with the id's time and returns the error when it was refused.
local function append(events, length, id, revision, event)
  local done = redis.pcall('XADD', events, 'MAXLEN', '~', length, id, 'revision', revision, 'event', event)
  if type(done) == 'table' and done.err then return done end
end

-- remember appends an event to the record's history and returns the error when it was
-- refused. Its time is now, the reading that the script answers with, since the server's may
-- move on during the script; where that is no later id (the clock was set back), the server
-- finds one.
local function remember(events, length, revision, event, now)
  if event == '' then return end
  local refused = append(events, length, digits(now) .. '-*', revision, event)
  if refused then refused = append(events, length, '*', revision, event) end
  if refused and string.find(refused.err, 'WRONGTYPE', 1, true) then return {'corrupt', 'events'} end
  return refused
end
