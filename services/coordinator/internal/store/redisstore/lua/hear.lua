-- lapses tells whether one of the beats at ARGV[at] renews a lease that has run out or is
-- not known, forced beats aside. What cannot be read is left to hear.
local function lapses(stored, at, beats, now)
  for i = at, at + 4 * (beats - 1), 4 do
    local ends = string.match(stored[ARGV[i]] or '0 ', '^(%d+) ')
    if ends and ARGV[i + 3] == '0' and tonumber(ends) <= now then return true end
  end
  return false
end

-- hear applies the beats at ARGV[at] and the newcomers behind them (protocol E5, J4).
-- A beat is four values: field, what the member determines, lease in ms, forced or not.
-- A stored value is "deadline heardAt sequence sync incarnation request detail", and
-- the second part of a beat is that from the sequence on.
-- It appends deadline and applied of each beat to answer, the fields to be written to
-- writes, and returns the name of a field that cannot be read.
local function hear(stored, at, beats, newcomers, now, answer, writes)
  for _ = 1, beats do
    local field, told, lease, forced = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local old, deadline, repeats = stored[field], nil, false
    if old then
      local ends, last, life, id = string.match(old, '^(%d+) %d+ (%d+) %-?%d+ (%S*) (%S*) ')
      if not ends then return field end
      local sequence, incarnation, request = string.match(told, '^(%d+) %-?%d+ (%S*) (%S*) ')
      if forced == '0' and incarnation == life then
        if sequence ~= '0' then
          repeats = not above(sequence, last)
        else
          repeats = request ~= '' and request == id
        end
      end
      deadline = tonumber(ends)
    end
    if not repeats then
      deadline = now + lease
      stored[field] = digits(deadline) .. ' ' .. digits(now) .. ' ' .. told
      writes[#writes + 1] = field
      writes[#writes + 1] = stored[field]
    end
    answer[#answer + 1] = deadline
    answer[#answer + 1] = repeats and 0 or 1
    at = at + 4
  end
  for _ = 1, newcomers do
    stored[ARGV[at]] = digits(now) .. ' ' .. ARGV[at + 1]
    writes[#writes + 1] = ARGV[at]
    writes[#writes + 1] = stored[ARGV[at]]
    at = at + 2
  end
end
