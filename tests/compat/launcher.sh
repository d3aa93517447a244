#!/usr/bin/env bash
# launcher.sh <gasnetrun_aqueduct> <client>: what the launcher makes of GASNet's options.
set -euo pipefail
run=$1 client=$2
unset GASNET_SSH_NODEFILE GASNET_SSH_SERVERS GASNET_NODEFILE PBS_NODEFILE GASNET_VERBOSEENV

bad() {
  printf 'launcher.sh: %s\n' "$1" >&2
  exit 1
}
# <pattern> <options…>: the command that would be run, without running it
becomes() {
  local pattern=$1 said
  shift
  said=$("$run" -t "$@" 2>&1) || bad "$* fails: $said"
  [[ $said =~ $pattern ]] || bad "$* becomes: $said"
}
# <pattern> <options…>: wrong usage, status 2
refuses() {
  local pattern=$1 said status=0
  shift
  said=$(timeout 60 "$run" "$@" 2>&1) || status=$?
  [[ $status -eq 2 && $said =~ $pattern ]] || bad "$* ends with $status: $said"
}

becomes 'aqrun -n 3 -v -- prog -n 7$' -n 3 prog -n 7
becomes 'aqrun -n 3 -v -- -odd$' -np3 -- -odd
becomes 'aqrun -n 10 -v -- prog$' -n 010 prog
GASNET_SSH_SERVERS=a,b,c,d,e,f,g,h,i becomes 'hosts: a, b, c, d, e, f, g, h
.*aqrun -n 9 ' -n 09 -N 08 prog
refuses "invalid argument '99999999999999999999'" -n 2 -N 99999999999999999999 prog
becomes 'aqrun -n 2 --conduit udp --timeout 5 --tag -v -- prog$' -n2 -N1 -c 2 -k -encode-args --conduit udp --timeout=5 --tag prog
FIRST='a b' SECOND='' becomes 'aqrun -n 1 -e FIRST=a\\ b -e SECOND= -v -- prog$' -n 1 -E FIRST,SECOND,UNSET_OF_LAUNCHER prog
GASNET_SSH_SERVERS='x,y x z' becomes 'hosts: x, y
.*aqrun -n 4 --hosts /dev/fd/[0-9]+ -v -- prog$' -n 4 -N 2 prog
GASNET_SSH_SERVERS=x,y becomes 'aqrun -n 4 -v -- prog$' -n 4 -spawner=fork prog
refuses 'required option -n' prog
refuses 'no program' -n 2
refuses "'-n' with invalid argument|-n with invalid argument 'two'" -n two prog
refuses 'unrecognized option .-Z.' -n 2 -Z prog
refuses 'unrecognized option .--no-such.' -n 2 --no-such prog
refuses 'unknown spawner' -n 2 -spawner=tree prog
refuses '-N given without an argument' -n 2 -N
refuses 'needs a list of hosts' -n 2 -N 2 prog
refuses '--hosts is empty' -n 2 -t --hosts '' prog
GASNET_SSH_NODEFILE=/dev/zero refuses "'/dev/zero' has more than 1048576 bytes" -n 2 -t prog
GASNET_NODEFILE=/dev/urandom refuses "'/dev/urandom' has more than" -n 2 -t prog
refuses 'has more than' -n 2 -t --hosts <(exec yes) prog
refuses "'/' cannot be read \\(" -n 2 -t --hosts / prog
if command -v script >/dev/null; then
  said=$(printf 'x slots=2\ny\n\004' | timeout 60 script -qec "'$run' -n 2 -t --hosts /dev/tty prog" /dev/null) ||
    bad "hosts from a terminal: $said"
  [[ $said == *'hosts: x slots=2, y'* ]] || bad "hosts from a terminal: $said"
fi
becomes 'hosts: x slots=2, y slots=2
.*--hosts' -n 2 --hosts <(printf 'x slots=2\ny slots=2\nx slots=1\n') prog
GASNET_SSH_SERVERS=x refuses 'there are 1 hosts' -n 2 -N 2 prog
refuses '-restart' -n 2 -restart .

[[ $("$run" -n 2 "$client") == *'all right'* ]] || bad "a job of two ranks"
said=$(GASNET_SSH_SERVERS=here,there,nowhere "$run" -n 4 -N 2 --conduit udp --remote 'sh -c {shell-command}' "$client") ||
  bad "a job on two hosts: $said"
[[ $said == *'all right'* ]] || bad "a job on two hosts: $said"
echo 'all right'
