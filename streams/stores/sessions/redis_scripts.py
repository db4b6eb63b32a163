"""The scripts of the working sets: each is atomic, and first checks that its partition is complete.

`EPOCHS` is one hash: `run` names the server process it was written to, `whole:<partition>` exists after a restoration
of the partition, `making:<partition>` holds the token of a running one. Emptying the server removes it; a restarted
server may have lost its last second, and is recognised by its missing scripts (see `NOTICE`).
"""

EPOCHS = "fathom:epochs"
BEHIND = b"BEHIND"

# Turns are returned as one JSON array: the driver reads one long string much faster than many short ones.
OPEN = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
local session = redis.call('HMGET', KEYS[2], 'json', 'frame')
local turns = {}
if session[2] and tonumber(ARGV[3]) > 0 then
  turns = redis.call('LRANGE', KEYS[3] .. ':' .. session[2], -tonumber(ARGV[3]), -1)
end
return {session[1], redis.call('HGET', KEYS[4], ARGV[2]), '[' .. table.concat(turns, ',') .. ']'}
"""

# As `OPEN`, with all turns of the session's frame and all turns of all frames.
WHOLE = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
local session = redis.call('HMGET', KEYS[2], 'json', 'frame')
local frame = {}
if session[2] then frame = redis.call('LRANGE', KEYS[3] .. ':' .. session[2], 0, -1) end
local turns = redis.call('LRANGE', KEYS[3], 0, -1)
return {
  session[1], redis.call('HGET', KEYS[4], ARGV[2]), '[' .. table.concat(frame, ',') .. ']',
  '[' .. table.concat(turns, ',') .. ']'
}
"""

RANGE = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
return '[' .. table.concat(redis.call('LRANGE', KEYS[2], ARGV[2], -1), ',') .. ']'
"""

FRAME = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
return redis.call('HGET', KEYS[2], ARGV[2])
"""

APPEND = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
local session, turns, frame, seen, outcomes, filed = unpack(KEYS, 2)
local message, turn, state, frame_key, frame_id, outcome = unpack(ARGV, 2, 7)
local keep, keep_all, known, expire = unpack(ARGV, 8, 11)
if redis.call('HEXISTS', filed, message) == 1 then return redis.call('HGET', outcomes, message) or '' end
redis.call('RPUSH', turns, turn)
redis.call('LTRIM', turns, -tonumber(keep_all), -1)
redis.call('RPUSH', frame, turn)
redis.call('LTRIM', frame, -tonumber(keep), -1)
redis.call('HSET', session, 'json', state, 'frame', frame_key)
redis.call('HSET', outcomes, message, outcome)
redis.call('HSET', filed, message, frame_id)
if redis.call('RPUSH', seen, message) > tonumber(known) then
  local oldest = redis.call('LPOP', seen)
  redis.call('HDEL', outcomes, oldest)
  redis.call('HDEL', filed, oldest)
end
for number = 2, #KEYS do redis.call('EXPIRE', KEYS[number], expire) end
return false
"""

# KEYS: epochs, session, then everything else of the conversation. ARGV: partition, token of a restoration or nothing,
# position, session, expiry.
FORGET = """
if ARGV[2] ~= '' then
  if redis.call('HGET', KEYS[1], 'making:' .. ARGV[1]) ~= ARGV[2] then return 'BEHIND' end
elseif ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then
  return 'BEHIND'
end
if tonumber(redis.call('HGET', KEYS[2], 'forgotten') or -1) >= tonumber(ARGV[3]) then return 0 end
redis.call('DEL', unpack(KEYS, 2))
redis.call('HSET', KEYS[2], 'json', ARGV[4], 'frame', '', 'forgotten', ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[5])
return 1
"""

# Sent with any script that is unknown to the server: either its scripts were flushed, or it is another process, which
# may lack the last writes before the death of the previous one.
NOTICE = """
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
if redis.call('HGET', KEYS[1], 'run') ~= run then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'run', run)
end
return run
"""

# As above, and the views are not whole either where this is another server than that of the client's last connection.
CHANGED = """
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
if ARGV[1] ~= run or redis.call('HGET', KEYS[1], 'run') ~= run then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'run', run)
end
return run
"""

MISSING = """
local found = {}
for number, partition in ipairs(ARGV) do
  found[number] = redis.call('HEXISTS', KEYS[1], 'whole:' .. partition)
end
return found
"""

BEGIN = """
redis.call('HDEL', KEYS[1], 'whole:' .. ARGV[1])
redis.call('HSET', KEYS[1], 'making:' .. ARGV[1], ARGV[2])
return 1
"""

FINISH = """
if redis.call('HGET', KEYS[1], 'making:' .. ARGV[1]) ~= ARGV[2] then return 'BEHIND' end
redis.call('HDEL', KEYS[1], 'making:' .. ARGV[1])
redis.call('HSET', KEYS[1], 'whole:' .. ARGV[1], ARGV[2])
return 1
"""

# The session, all turns, then the turns of each requested frame.
LOAD = """
local found = {redis.call('HGET', KEYS[1], 'json')}
for number = 2, #KEYS do
  found[number] = '[' .. table.concat(redis.call('LRANGE', KEYS[number], 0, -1), ',') .. ']'
end
return found
"""

# KEYS: epochs, session, turns, seen, outcomes, filed, frames… ARGV: partition, token, expiry, session, its frame's key,
# number of messages, number of them recognised when redelivered; per message: id, frame, outcome, turn, whether it is
# new; then per frame the number of turns, and the turns.
RESTORE = """
if redis.call('HGET', KEYS[1], 'making:' .. ARGV[1]) ~= ARGV[2] then return 'BEHIND' end
local session, turns, seen, outcomes, filed = unpack(KEYS, 2, 6)
local known, at = tonumber(ARGV[6]), 8
local first = known - tonumber(ARGV[7]) + 1
redis.call('DEL', turns, seen)
local kept = {}
for number = 1, known do
  local message, frame, outcome, turn, new = unpack(ARGV, at, at + 4)
  redis.call('RPUSH', turns, turn)
  if number >= first then
    redis.call('RPUSH', seen, message)
    kept[message] = true
    if new == '1' then
      redis.call('HSET', outcomes, message, outcome)
      redis.call('HSET', filed, message, frame)
    end
  end
  at = at + 5
end
for _, message in ipairs(redis.call('HKEYS', filed)) do
  if not kept[message] then
    redis.call('HDEL', outcomes, message)
    redis.call('HDEL', filed, message)
  end
end
for number = 7, #KEYS do
  redis.call('DEL', KEYS[number])
  local count = tonumber(ARGV[at])
  for each = at + 1, at + count do redis.call('RPUSH', KEYS[number], ARGV[each]) end
  at = at + 1 + count
end
redis.call('HSET', session, 'json', ARGV[4], 'frame', ARGV[5])
for number = 2, #KEYS do redis.call('EXPIRE', KEYS[number], ARGV[3]) end
return 1
"""
