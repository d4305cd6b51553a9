#!/bin/sh
# A whole worker with nothing but sh, curl and sed.
#
#   ./worker.sh QUEUE COMMAND [ARGUMENT...]
#
# Leases one task of the queue at a time by long poll and runs COMMAND with the task's payload on standard
# input. What it prints, if that is JSON, is the task's output; a line on standard error such as
# "progress 40 half of it" goes with the next heartbeat. Exit 0 succeeds, 65 is bad data and 78 bad
# configuration (neither is tried again), anything else fails and is tried again.
#
# SERVER_URL  the server, http://127.0.0.1:8420 unless given
# KEY_FILE    a file with an API key of role worker; none for a server without keys
# WAIT_MS     how long to wait for a task before asking again, 20000 unless given
# TASKS       stop after so many tasks; 0, unless given, is never
set -u

url=${SERVER_URL:-http://127.0.0.1:8420}
url=${url%/}
queue=${1:?usage: worker.sh QUEUE COMMAND [ARGUMENT...]}
shift
[ $# -gt 0 ] || { echo 'usage: worker.sh QUEUE COMMAND [ARGUMENT...]' >&2; exit 2; }
worker="curl-$(uname -n)-$$"
dir=$(mktemp -d) || exit 1
umask 077
running=
stop=

say() { echo "$(date +%H:%M:%S) $*" >&2; }

# The value of a top-level field that is a number, a word or a text without quotes in it: ids, tokens, times,
# counts.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$2"; }

# A text as JSON has it: one line, quotes and backslashes escaped. What is not ASCII is left out, since it may be
# cut in the middle.
quoted() { tr '\n\t' '  ' | LC_ALL=C tr -cd '\040-\176' | sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/'; }

# Prints the status; the answer is in the file $3. 000 is no answer at all. Secrets reach curl in a file:
# the arguments of a process can be seen by others.
post() { # path body-file answer-file header-file
  curl -sS -o "$3" -w '%{http_code}' -m 75 -X POST -H 'Content-Type: application/json' \
    -H "@$4" --data-binary "@$2" "$url$1" 2>>"$dir/curl.log"
}

bearer() { printf 'Authorization: Bearer %s\n' "$1" >"$2.new" && mv "$2.new" "$2"; }

# Sends it until it is answered, for as long as anybody may care, at longer and longer intervals.
insist() { # path body-file answer-file header-file
  pause=1
  while :; do
    status=$(post "$1" "$2" "$3" "$4")
    case $status in
      000 | 429 | 5??) [ "$pause" -le 32 ] || return 1 ;;
      *) return 0 ;;
    esac
    sleep "$pause"
    pause=$((pause * 2))
  done
}

# What the heartbeat learns it says by files: "cancel" stops the command and reports it, "gone" stops it and
# reports nothing, since another worker has the task now.
heartbeats() {
  interval=$(((ms + 999) / 1000))
  while :; do
    i=0 # in small steps, so that nothing is left behind long after the task
    while [ "$i" -lt "$interval" ]; do
      [ ! -e "$dir/ended" ] || return 0
      sleep 1
      i=$((i + 1))
    done
    progress=$(sed -n 's/^progress \([0-9]\{1,3\}\) *\(.*\)/\1 \2/p' "$dir/err" | tail -n 1)
    {
      printf '{"attempt":%s,"workerId":"%s"' "$attempt" "$worker"
      if [ -n "$progress" ]; then
        printf ',"progressPct":%s,"message":%s' "${progress%% *}" "$(echo "${progress#* }" | quoted)"
      fi
      printf '}'
    } >"$dir/beat.json"
    case $(post "/v1/tasks/$task/heartbeat" "$dir/beat.json" "$dir/beat" "$dir/token") in
      200)
        fresh=$(field taskToken "$dir/beat")
        [ -z "$fresh" ] || bearer "$fresh" "$dir/token"
        if grep -q '"shouldCancel":true' "$dir/beat"; then
          say "task $task is to be cancelled"
          : >"$dir/cancel"
          kill -TERM "$child" 2>/dev/null
        fi
        ;;
      404 | 409 | 410)
        say "task $task is no longer ours: $(cat "$dir/beat")"
        : >"$dir/gone"
        kill -KILL "$child" 2>/dev/null
        return 0
        ;;
      *) say 'a heartbeat did not get through; the next one may' ;;
    esac
  done
}

completed() { # outcome and what belongs to it
  printf '{"attempt":%s,"workerId":"%s",%s}' "$attempt" "$worker" "$1" >"$dir/completed.json"
  if insist "/v1/tasks/$task/completed" "$dir/completed.json" "$dir/answer" "$dir/token"; then
    say "task $task: $status $(cat "$dir/answer")"
  else
    say "task $task: its end was not accepted; its lease will run out"
  fi
}

run() {
  rm -f "$dir/cancel" "$dir/gone" "$dir/ended"
  # Nothing before the payload holds an object, and no key can stand in a text, whose quotes are escaped; so
  # the first "payload" is the envelope's, and so is the last "resources" behind it.
  sed 's/,"payload":/\
&/' "$dir/lease" >"$dir/split"
  sed -n 1p "$dir/split" >"$dir/head"
  sed -n '2s/^,"payload":\(.*\),"resources":{.*/\1/p' "$dir/split" >"$dir/payload"
  sed -n '2s/.*,"resources":{/{/p' "$dir/split" >"$dir/rest"
  task=$(field taskId "$dir/head")
  attempt=$(field attempt "$dir/head")
  ms=$(field heartbeatIntervalMs "$dir/rest")
  bearer "$(field taskToken "$dir/rest")" "$dir/token"

  printf '{"attempt":%s,"workerId":"%s"}' "$attempt" "$worker" >"$dir/started.json"
  insist "/v1/tasks/$task/started" "$dir/started.json" "$dir/answer" "$dir/token"
  if [ "$status" != 200 ]; then
    say "task $task does not start: $status $(cat "$dir/answer")"
    return
  fi

  : >"$dir/err"
  "$@" <"$dir/payload" >"$dir/out" 2>"$dir/err" &
  child=$!
  running=$child
  heartbeats &
  beats=$!
  # A signal interrupts the wait, not the command.
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
  done
  running=
  : >"$dir/ended"
  wait "$beats"

  if [ -e "$dir/gone" ]; then
    return
  elif [ -e "$dir/cancel" ] && [ "$code" -ne 0 ]; then
    completed '"outcome":"CANCELLED","cancelledDuringPhase":"running"'
  elif [ "$code" -eq 0 ]; then
    output=$(tr -d '\r\n' <"$dir/out")
    completed "\"outcome\":\"SUCCEEDED\"${output:+,\"output\":$output}"
    # Not JSON, then: the end of the task matters more than what was printed.
    case $status in 400 | 413 | 422) completed '"outcome":"SUCCEEDED"' ;; esac
  else
    case $code in
      65) category=DATA_QUALITY ;;
      75) category=INFRASTRUCTURE ;;
      78) category=CONFIGURATION ;;
      *) category=USER_CODE ;;
    esac
    message=$( (echo "exit $code:"; grep -v '^progress ' "$dir/err" | tail -n 5) | tail -c 2000 | quoted)
    completed "\"outcome\":\"FAILED\",\"error\":{\"category\":\"$category\",\"message\":$message}"
  fi
}

# Stops after the task that runs; told twice, at once: its lease then runs out and another worker takes it.
signal() {
  if [ -n "$stop" ] && [ -n "$running" ]; then kill -KILL "$running" 2>/dev/null; fi
  if [ -n "$stop" ]; then exit 143; fi
  stop=1
  say 'stopping after this task'
}
trap signal TERM INT
trap 'rm -rf "$dir"' EXIT

if [ -n "${KEY_FILE:-}" ]; then
  bearer "$(cat "$KEY_FILE")" "$dir/key" || exit 1
else
  : >"$dir/key"
fi
printf '{"workerId":"%s","max":1,"waitMs":%s}' "$worker" "${WAIT_MS:-20000}" >"$dir/lease.json"
say "$worker serves $queue at $url"
done=0
pause=1
while [ -z "$stop" ] && { [ "${TASKS:-0}" -eq 0 ] || [ "$done" -lt "$TASKS" ]; }; do
  case $(post "/v1/queues/$queue/lease" "$dir/lease.json" "$dir/lease" "$dir/key") in
    200)
      pause=1
      grep -q '"taskId"' "$dir/lease" || continue # waited in vain
      run "$@"
      done=$((done + 1))
      ;;
    401 | 403)
      say "the server does not let us in: $(cat "$dir/lease")"
      exit 77
      ;;
    *)
      say "no task from $url: $(cat "$dir/lease" 2>/dev/null || tail -n 1 "$dir/curl.log")"
      sleep "$pause"
      pause=$((pause < 32 ? pause * 2 : 32))
      ;;
  esac
done
say 'stopped'
