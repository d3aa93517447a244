#!/usr/bin/env bash
# Tests jobs over ibv whose ranks, links or devices fail. Runs as root on two hosts
# with Soft RoCE, which only rdma-vm provides:
#
#   ../shared/rdma-vm --hosts 2 --rw build -- tests/fault/rdma.sh [BIN [CASE…]]    BIN holds the programs [build/release/bin]
#
# Each case has a time limit, and prints one line with its result. Exit status 1: a
# case failed. Output: /tmp/rdma-fault-CASE.
# shellcheck disable=SC2317  # the functions are called by name
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${1:-$root/build/release/bin}
shift $(($# > 0))
failed=0
export AQUEDUCT_CONDUIT=ibv AQUEDUCT_BOOTSTRAP_TIMEOUT=60s
here=("$bin/aqrun" --timeout 50 -n 2 -e AQUEDUCT_NEAR=off)
# Two ranks on each host, smp between neighbours. mpirun does not end the other ranks when one dies.
# shellcheck disable=SC2054  # the comma is mpirun's
across=(mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent rdma-ssh --mca oob_tcp_if_include adm0 --enable-recovery
  --host host0:2,host1:2 -np 4 --bind-to none -x AQUEDUCT_CONDUIT -x AQUEDUCT_BOOTSTRAP_TIMEOUT)

# case_of NAME SECONDS COMMAND…: prints whether the case passed and how long it took; more than SECONDS is a failure.
case_of() {
  local name=$1 limit=$2 start=$EPOCHREALTIME verdict=held took
  shift 2
  out=/tmp/rdma-fault-$name
  "$@" >"$out" 2>&1 || verdict=FAILED
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  if awk -v t="$took" -v l="$limit" 'BEGIN { exit !(t > l) }'; then verdict="FAILED: longer than $limit s"; fi
  printf '%-28s %6s s  %s\n' "$name" "$took" "$verdict"
  if [[ $verdict != held ]]; then
    failed=1
    tail -n 20 "$out" | sed 's/^/    /'
  fi
}

# killed WHEN: one of three ranks is killed at that point; the others are told and end well.
killed() {
  local said status=0
  said=$("$bin/aqrun" -n 3 --timeout 40 --grace 20 -e AQUEDUCT_NEAR=off "$bin/fault_victim" "$1" kill 1 2>&1) || status=$?
  printf '%s\n' "$said"
  [[ $status -eq 137 && $(grep -c 'noticed peer_lost' <<<"$said") -eq 2 ]]
}

# The number of rounds that rank 0 has reported.
rounds() { grep -c '^rounds' "$out"; }

# meanwhile ACT… -- LAUNCHER…: ranks put, get and message, and check the data. Runs ACT once they do. After some more
# rounds, or at a time limit, they are told to end. Returns the job's exit status.
meanwhile() {
  local act=() end pid status=0 before until
  while [[ $1 != -- ]]; do act+=("$1") && shift; done
  shift
  end=$(mktemp -u -p "$root/build")  # on a file system that both hosts see
  timeout 60 "$@" "$bin/fault_exchange" "$end" 20000 &
  pid=$!
  until=$((SECONDS + 20))
  while [[ $(rounds) -lt 2 && $SECONDS -lt $until ]]; do sleep 0.1; done
  "${act[@]}"
  before=$(rounds)
  until=$((SECONDS + 10))
  while [[ $(rounds) -lt $((before + 3)) && $SECONDS -lt $until ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  touch "$end"
  # After the death of a rank Open MPI's mpirun, which was told to go on, may not end when the other ranks have.
  if [[ -n ${left:-} ]]; then
    while kill -0 "$pid" 2>/dev/null && [[ $(grep -c '^finish' "$out") -lt $left ]]; do sleep 0.2; done
    until=$((SECONDS + 3))
    while kill -0 "$pid" 2>/dev/null && [[ $SECONDS -lt $until ]]; do sleep 0.2; done
    kill "$pid" 2>/dev/null && printf 'the ranks had ended, and the launcher had not\n'
  fi
  wait "$pid" || status=$?
  rm -f "$end"
  return "$status"
}

# The adapters retransmit what is lost during the cut.
cut() { rdma-loss 100 && sleep "$1" && rdma-loss 0; }
# Soft RoCE does not retransmit what its own interface refuses: its side of every
# connection fails at once, however short the cut is.
port_down() { rdma-host 1 sh -c "ip link set roce0 down; sleep $1; ip link set roce0 up"; }
kill_one_there() { rdma-host 1 sh -c 'kill -9 $(pgrep -n -x fault_exchange)'; }

# Soft RoCE keeps the device until its last user closes it. So the job ends well, and afterwards the device is gone.
remove_device() { rdma link delete rxe0 & }
removed() {
  local said
  meanwhile remove_device -- "${here[@]}" || return 1
  wait
  said=$(timeout 10 "$bin/aqinfo" 2>&1 | grep -A3 '^Conduit ibv')
  printf '%s\n' "$said"
  rdma link add rxe0 type rxe netdev roce0
  [[ $said == *'no RDMA device'* ]]
}

# Like `meanwhile`, for a job that cannot go on: all remaining ranks must notice, before any time limit ends them.
noticed() {
  local left=$1 status=0
  shift
  meanwhile "$@" || status=$?
  printf 'the job ended with %s\n' "$status"
  [[ $status -ne 124 && $(grep -c '^noticed' "$out") -eq $left && $(grep -c '^finish' "$out") -eq $left ]]
}

declare -A what=(
  [killed-before]="30 killed before" [killed-during]="30 killed during" [killed-barrier]="30 killed barrier"
  [killed-puts]="30 killed puts" [killed-messages]="30 killed messages"
  [two-hosts]="40 meanwhile true -- ${across[*]@Q}"
  [killed-on-the-other-host]="60 noticed 3 kill_one_there -- ${across[*]@Q}"
  [loss]="60 meanwhile rdma-loss 1 -- ${across[*]@Q}"
  [cut-shortly]="60 meanwhile cut 0.3 -- ${across[*]@Q}"
  [cut]="60 noticed 4 cut 8 -- ${across[*]@Q}"
  [port-flaps]="60 noticed 4 port_down 0.2 -- ${across[*]@Q}"
  [port-down]="60 noticed 4 port_down 6 -- ${across[*]@Q}"
  [device-removed]="60 removed"
)
cases=("$@")
[[ $# -gt 0 ]] || cases=(killed-before killed-during killed-barrier killed-puts killed-messages two-hosts
  killed-on-the-other-host loss cut-shortly cut port-flaps port-down device-removed)
for name in "${cases[@]}"; do
  # shellcheck disable=SC2086
  eval "case_of $name ${what[$name]}"
  [[ $name != loss && $name != cut* ]] || rdma-loss 0 >/dev/null
done
# What the kernels say of crashed processes: a rank that dies by a signal leaves no other trace.
for host in 0 1; do
  rdma-host "$host" dmesg | grep -i -E "segfault|general protection" | sed "s/^/kernel of host$host: /"
done
exit "$failed"
