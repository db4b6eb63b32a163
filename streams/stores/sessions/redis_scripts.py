"""The scripts of the working sets: each is one step for everybody, and first looks whether its partition is whole.

`EPOCHS` is one hash: `run` names the server process it was written to, `whole:<partition>` is there once a partition
was restored, `making:<partition>` holds the token of who restores it. Emptying the server takes it along; a server that
was started again may have lost its last second, and is found out by having forgotten the scripts (see `NOTICE`).
"""

EPOCHS = "fathom:epochs"
BEHIND = b"BEHIND"

# Turns come back as one JSON array: the driver reads one long string much faster than many short ones.
OPEN = """
if ARGV[1] ~= '' and redis.call('HEXISTS', KEYS[1], 'whole:' .. ARGV[1]) == 0 then return 'BEHIND' end
local session = redis.call('HMGET', KEYS[2], 'json', 'frame')
local turns = {}
if session[2] and tonumber(ARGV[3]) > 0 then
  turns = redis.call('LRANGE', KEYS[3] .. ':' .. session[2], -tonumber(ARGV[3]), -1)
end
return {session[1], redis.call('HGET', KEYS[4], ARGV[2]), '[' .. table.concat(turns, ',') .. ']'}
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
if redis.call('HEXISTS', filed, message) == 1 then return 0 end
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
return 1
"""

# Sent together with any script that the server does not know: either it was told to forget them, or it is another
# process than before, and then it may lack what was written last before the other one died.
NOTICE = """
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
if redis.call('HGET', KEYS[1], 'run') ~= run then
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

# The session, all turns, then those of each frame asked for.
LOAD = """
local found = {redis.call('HGET', KEYS[1], 'json')}
for number = 2, #KEYS do
  found[number] = '[' .. table.concat(redis.call('LRANGE', KEYS[number], 0, -1), ',') .. ']'
end
return found
"""

# KEYS: epochs, session, turns, seen, outcomes, filed, frames… ARGV: partition, token, expiry, session, its frame's key,
# how many messages, how many of them are told apart when they come again; of each message: id, frame, outcome, turn,
# whether it is new; then for each frame how many turns, and these.
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
