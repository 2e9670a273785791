-- The proof that a shard is empty (protocol L4), shared by the scripts that give it and
-- that act on it.

-- The highest id, behind which XRANGE refuses to look.
local HIGHEST = '18446744073709551615-18446744073709551615'

-- count returns a number that Redis knows, and false for one that it does not: null, not
-- among the fields, or below 0 (field cases F03, F04).
local function count(value)
  if type(value) == 'number' and value >= 0 then return value end
  return false
end

-- behind returns the first entry after an id, '' for none.
local function behind(key, id)
  if id == HIGHEST then return '' end
  local entries = redis.call('XRANGE', key, '(' .. id, '+', 'COUNT', 1)
  return entries[1] and entries[1][1] or ''
end

-- groupsOn returns the groups of a stream in the order of their names.
local function groupsOn(key)
  local groups = {}
  for _, flat in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local group = named(flat)
    groups[#groups + 1] = {
      name = group['name'], last = group['last-delivered-id'], pending = group['pending'],
      lag = count(group['lag']), read = count(group['entries-read']),
      tail = behind(key, group['last-delivered-id']),
    }
  end
  table.sort(groups, function(a, b) return a.name < b.name end)
  return groups
end

-- reasonOf returns what keeps one group from being done with the shard, and its rank: the
-- lower one is looked for first. A lag of 0 in front of an entry is no proof (F03).
local function reasonOf(group)
  if group.tail ~= '' then return 'UNREAD', 1 end
  if group.pending > 0 then return 'PENDING', 2 end
  if not group.lag then return 'LAG_UNKNOWN', 3 end
  if group.lag > 0 then return 'LAG_CONTRADICTS_TAIL', 4 end
  return '', 5
end

-- busiest returns the consumer of a group with the most pending entries.
local function busiest(key, group)
  local name, most = '', 0
  for _, consumer in ipairs(redis.call('XPENDING', key, group)[4] or {}) do
    local pending = tonumber(consumer[2])
    if pending > most then name, most = consumer[1], pending end
  end
  return name
end

-- sum adds what the groups have pending, and their lag unless one of them has none that
-- can be believed: above the length of the stream, or 0, in front of an entry (F01, F03).
local function sum(groups, length)
  local pending, lag = 0, 0
  for _, group in ipairs(groups) do
    pending = pending + group.pending
    local doubtful = group.tail ~= '' and group.lag and (group.lag == 0 or group.lag > length)
    lag = lag and group.lag and not doubtful and lag + group.lag
  end
  return pending, lag
end

-- judge looks at the shard for the groups named at ARGV[at] and for every other one on it.
local function judge(at)
  local found = {
    reason = '', group = '', tail = '', consumer = '', last = '',
    pending = false, lag = false, added = false, retired = retiree(KEYS[1]) or '', missing = {}, groups = {},
  }
  if kind(KEYS[1]) ~= 'stream' then
    found.reason = 'STREAM_MISSING'
    return found
  end
  local stream = named(redis.call('XINFO', 'STREAM', KEYS[1]))
  found.last, found.added = stream['last-generated-id'], count(stream['entries-added'])
  found.groups = groupsOn(KEYS[1])
  found.pending, found.lag = sum(found.groups, stream['length'])
  local there, rank, worst = {}, 5, nil
  for _, group in ipairs(found.groups) do
    there[group.name] = true
    local reason, order = reasonOf(group)
    if order < rank then found.reason, rank, worst = reason, order, group end
  end
  for i = at, #ARGV do
    if not there[ARGV[i]] then found.missing[#found.missing + 1] = ARGV[i] end
  end
  if #found.missing > 0 then
    found.reason, found.group = 'GROUP_MISSING', found.missing[1]
  elseif worst then
    found.group, found.tail = worst.name, worst.tail
    if found.reason == 'PENDING' then found.consumer = busiest(KEYS[1], worst.name) end
  elseif #found.groups == 0 and stream['length'] > 0 then
    found.reason, found.tail = 'UNREAD', behind(KEYS[1], '0-0') -- entries that nobody wants are kept
  end
  return found
end

-- report is the answer about what was found, and whether a replica follows.
local function report(word, found, followed)
  local groups = {}
  for i, group in ipairs(found.groups) do
    groups[i] = {group.name, group.last, group.pending, group.lag, group.read}
  end
  return {
    word, found.reason, found.pending, found.lag, found.tail, found.group, found.consumer,
    found.last, found.added, found.retired, found.missing, groups, followed and 1 or 0,
  }
end
