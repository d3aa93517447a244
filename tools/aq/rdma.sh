# `./aq rdma`: the conformance kit and the tests of faults over RDMA devices. `aq` sources it.
# shellcheck shell=bash disable=SC2154,SC2034  # aq sets and reads these variables

# The fabrics that the kit runs on a machine with RDMA devices: all of ibv, and the other libraries over verbs.
readonly rdma_fabrics=(ibv-threads ibv-processes ibv-mixed ibv-hosts ibv-cramped ibv-rails ibv-iwarp ofi-verbs ofi-verbs-threads
  ucx-rc ucx-ud)

# Runs a command in a virtual machine, then prints the kernel's lines on crashed processes: a rank that dies by a signal
# leaves no other trace there.
# shellcheck disable=SC2016  # the shell in the machine expands it
readonly with_crashes='"$@"
status=$?
dmesg | grep -i -E "segfault|general protection" | sed "s/^/kernel: /"
exit "$status"'

# rdma_fabric NAME COMMAND…: runs the kit over the fabric through COMMAND, and adds a line to the table of rdma.
rdma_fabric() {
  local name=$1 log=build/rdma/$1.log status=0 passed failed skipped reason=''
  shift
  if [[ -z $(build/release/bin/aqconform --fabric "$name" --list 2>"$log") ]]; then
    printf '%-18s %8s %8s %8s  %s\n' "$name" - - - "no such fabric"
    return 0
  fi
  # The filter: --fabric takes parts of names, and `ofi-verbs` would run the cases of ofi-verbs-threads as well.
  "$@" timeout 1500 build/release/bin/aqconform --fabric "$name" --gtest_filter="*/${name//-/_}" --ranks 4 --limit 240 \
    </dev/null >"$log" 2>&1 || status=$?
  passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$log" | tail -1)
  failed=$(sed -n 's/.* passed, \([0-9]*\) failed.*/\1/p' "$log" | tail -1)
  skipped=$(sed -n 's/.* failed, \([0-9]*\) skipped.*/\1/p' "$log" | tail -1)
  case $status in
    0) [[ ${passed:-0} -gt 0 ]] || reason="all skipped: $(grep -m1 -i 'skipped$' -A1 "$log" | tail -1)" ;;
    124) reason="did not end in time, last in $(sed -n 's/^\[ RUN *\] //p' "$log" | tail -1); $log" ;;
    *) reason="exit status $status; $log" ;;
  esac
  printf '%-18s %8s %8s %8s  %s\n' "$name" "${passed:--}" "${skipped:--}" "${failed:--}" "$reason"
  sed -n '/^kernel: /p' "$log"
  [[ $status -eq 0 && ${passed:-0} -gt 0 ]]
}

# Each fabric gets a virtual machine of its own, so that one that hangs does not affect the others.
rdma() {
  if [[ ${1:-} == faults ]]; then
    [[ -x ../shared/rdma-vm ]] || fail "this needs the program ../shared/rdma-vm beside the checkout"
    build release aqrun aqinfo fault_victim fault_exchange
    title "Jobs over ibv while things fail"
    ../shared/rdma-vm --hosts 2 --rw build -- tests/fault/rdma.sh
    return
  fi
  local run=() name status=0 fabrics=("${rdma_fabrics[@]}")
  [[ $# -eq 0 ]] || fabrics=("$@")
  if [[ -n $(ls /sys/class/infiniband 2>/dev/null) ]]; then
    note "using this machine's devices: $(ls /sys/class/infiniband | tr '\n' ' ')"
  elif [[ -x ../shared/rdma-vm ]]; then
    note "no RDMA device here: each fabric runs in a virtual machine that has one (../shared/rdma-vm)"
    run=(../shared/rdma-vm --timeout 1600)
  else
    fail "this needs an RDMA device (ls /sys/class/infiniband), or the program ../shared/rdma-vm beside the checkout"
  fi
  build release aqconform
  mkdir -p build/rdma
  title "The conformance kit over RDMA (logs: build/rdma/)"
  printf '%-18s %8s %8s %8s  %s\n' fabric passed skipped failed reason
  for name in "${fabrics[@]}"; do
    local machine=("${run[@]}")
    if [[ ${#run[@]} -gt 0 ]]; then
      [[ $name != *-rails ]] || machine+=(--rails 2)
      [[ $name != *-iwarp ]] || machine+=(--siw)
      machine+=(-- bash -c "$with_crashes" with_crashes)
    fi
    rdma_fabric "$name" "${machine[@]}" || status=1
  done
  [[ $status -eq 0 ]] || fail "not every fabric passed"
}
