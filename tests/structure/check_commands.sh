#!/usr/bin/env bash
# Checks that every command in ./aq's usage has a function, and that no function calls itself: check_commands.sh AQ
set -euo pipefail
here=$(dirname "$(readlink -f "$1")")
# shellcheck disable=SC1090
source <(sed -e '/^main "\$@"$/d' -e "s|^cd .*|cd '$here'|" "$1")
wrong=0
for command in $(usage | sed -n 's|^\./aq \([a-z-]*\).*|\1|p' | sort -u) run-tests; do
  name=${command//-/_}
  [[ $command != test ]] || name=tests
  if ! declare -F "$name" >/dev/null; then echo "./aq $command: there is no function $name"; wrong=1; fi
done
# A function that calls itself would not end, and none has a reason to.
for name in $(declare -F | sed 's/declare -f //'); do
  if declare -f "$name" | sed 1,2d | grep -Eq "^ *$name( |;|$)"; then echo "$name calls itself"; wrong=1; fi
done
exit "$wrong"
