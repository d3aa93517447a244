#!/usr/bin/env bash
# signals.sh <aqrun> <gasnet_signals> <gasnet_wrong>: GASNET_FREEZE, GASNET_FREEZE_ON_ERROR, GASNET_FREEZE_SIGNAL,
# GASNET_BACKTRACE_SIGNAL, GASNET_BACKTRACE_NODES and GASNET_EXITTIMEOUT.
set -uo pipefail
run=$1 client=$2 wrong=$3
said=$(mktemp)
job=''
trap 'rm -f "$said"; [[ -z $job ]] || kill "$job" 2>/dev/null' EXIT

bad() {
  printf 'signals.sh: %s\n' "$1" >&2
  cat "$said" >&2
  exit 1
}
start() {  # <variables…> -- <arguments…>: two ranks
  local variables=()
  while [[ $1 != -- ]]; do
    variables+=(-e "$1")
    shift
  done
  shift
  : >"$said"
  "$run" --timeout 40 -n 2 "${variables[@]}" "$client" "$@" >"$said" 2>&1 &
  job=$!
}
# says <pattern> <n>: waits until n lines of the output match, for 15 s at most
says() {
  for _ in $(seq 300); do
    (($(grep -c "$1" "$said") >= $2)) && return
    sleep 0.05
  done
  bad "'$1' was not said $2 times"
}
frozen() { sed -n 's/.*frozen for a debugger: host .*, pid \([0-9]*\);.*/\1/p' "$said"; }
processes() {
  local pid
  for pid in $(cat "/proc/$job/task/$job/children"); do
    [[ $(cat "/proc/$pid/comm") == "$(basename "$client")" ]] && echo "$pid"
  done
}
ends() {  # <status>
  wait "$job"
  local status=$?
  job=''
  [[ $status -eq $1 ]] || bad "the job ends with $status"
}

start GASNET_FREEZE=1 --
says 'frozen for a debugger' 2
grep -q ready "$said" && bad "a frozen rank went on"
kill -CONT $(frozen)
says ready 1
kill -USR2 $(processes)
ends 0

start GASNET_FREEZE_SIGNAL=USR1 GASNET_BACKTRACE_SIGNAL=sigwinch --
says ready 1
kill -WINCH $(processes)
says 'Caught GASNET_BACKTRACE_SIGNAL (proc [01]): SIGWINCH' 2
says 'gasnet_signals.*main' 1
first=$(processes | head -1)
kill -USR1 "$first"
says 'Caught GASNET_FREEZE_SIGNAL (proc [01]): SIGUSR1' 1
says 'frozen for a debugger' 1
[[ $(frozen) == "$first" ]] || bad "process $(frozen) is frozen, not $first"
kill -USR2 $(processes)
kill -CONT "$first"
ends 0
grep -q 'all right' "$said" || bad "the ranks did not go on"

if [[ ${SANITIZED:-0} -eq 0 ]]; then
  start GASNET_FREEZE_ON_ERROR=1 -- segv
  says ready 1
  kill -USR2 $(processes)
  says 'frozen for a debugger' 2
  grep -q 'Caught a fatal signal (proc [01]): SIGSEGV' "$said" || bad "the signal has no line"
  kill -CONT $(frozen)
  ends $((128 + 11))
fi

# The rank that fails is 0.
for nodes in 0 0-3 '*' '' 1 2-9,11; do
  "$run" --timeout 20 -n 2 -e GASNET_BACKTRACE=1 -e "GASNET_BACKTRACE_NODES=$nodes" "$wrong" medium self >"$said" 2>&1
  [[ $nodes == 1 || $nodes == 2* ]] && wanted=0 || wanted=1
  shown=$(grep -q 'gasnet_wrong.*main' "$said" && echo 1 || echo 0)
  [[ $shown == "$wanted" ]] || bad "GASNET_BACKTRACE_NODES='$nodes'"
done
# A rank that comes 2.5 s after the first one is waited for, as the usual 1.5 s are too short.
for limit in GASNET_EXITTIMEOUT=30 GASNET_EXITTIMEOUT_FACTOR=15; do
  "$run" --timeout 40 -n 2 -e "$limit" "$wrong" exit_late >"$said" 2>&1
  [[ $? -eq 3 ]] && grep -q late "$said" || bad "$limit is not kept"
done
"$run" --timeout 20 -n 2 -e GASNET_FREEZE_SIGNAL=nothing "$wrong" >"$said" 2>&1 && bad "GASNET_FREEZE_SIGNAL takes a name that no signal has"
grep -q "GASNET_FREEZE_SIGNAL='nothing' is not the name" "$said" || bad "the reason is not given"
"$run" --timeout 20 -n 3 -e GASNET_VERBOSEENV=1 "$wrong" >"$said" 2>&1
[[ $(grep -c 'GASNET_BACKTRACE = ' "$said") == 1 ]] || bad "a setting is not shown once for the job"
echo 'all right'
