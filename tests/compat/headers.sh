#!/usr/bin/env bash
# headers.sh <cc> <c++> <compat/gasnet/include> <include> <library of mode PAR> <folder for files>: clients of several languages and
# compilers' settings compile without a warning, and files of two modes of threads do not link.
set -uo pipefail
cc=$1 cxx=$2 includes=(-I"$3" -I"$4") library=$5 work=$6
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"

compiles_plainly() {
  local said
  if ! said=$("$@" "${includes[@]}" 2>&1); then
    printf 'headers.sh: %s:\n%s\n' "$*" "$said" >&2
    exit 1
  fi
}
compiles() { compiles_plainly "$@" -D_GNU_SOURCE=1; }
warnings=(-Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror -fsyntax-only)
order=0
for mode in SEQ PARSYNC PAR; do
  for language in c99 c11 gnu17; do
    compiles "$cc" -std=$language "${warnings[@]}" -Wstrict-prototypes -DGASNET_$mode -DORDER=$((order++ % 3)) "$here/headers.c"
  done
  for language in c++98 c++11 c++14 c++20; do
    compiles "$cxx" -x c++ -std=$language "${warnings[@]}" -DGASNET_$mode -DORDER=$((order++ % 3)) "$here/headers.c"
  done
done

# Without _GNU_SOURCE, which the flags of the layer define: the dialects that have the locks of POSIX. The first error of others says so.
for mode in SEQ PAR; do
  compiles_plainly "$cc" -std=gnu99 "${warnings[@]}" -DGASNET_$mode -DORDER=0 "$here/headers.c"
  compiles_plainly "$cc" -std=c99 -D_POSIX_C_SOURCE=200809L "${warnings[@]}" -DGASNET_$mode -DORDER=0 "$here/headers.c"
done
compiles_plainly "$cc" -std=c99 "${warnings[@]}" -DGASNET_SEQ -DORDER=0 "$here/headers.c"
said=$("$cc" -std=c99 -fsyntax-only -DGASNET_PAR -DORDER=0 "${includes[@]}" "$here/headers.c" 2>&1)
if [[ ! $(grep -m 1 error <<<"$said") =~ 'define _POSIX_C_SOURCE=200809L' ]]; then
  printf 'headers.sh: a strict client with threads is not told what to define:\n%s\n' "$said" >&2
  exit 1
fi

# A client of the tools alone has threads if it says so, or if its compiler does.
printf '#include <gasnet_tools.h>\n#if WANTED != defined(GASNETT_THREAD_SAFE)\n#error threads\n#endif\n' >"$work/tools.c"
compiles "$cc" -fsyntax-only -DWANTED=0 "$work/tools.c"
compiles "$cc" -fsyntax-only -DWANTED=1 -DGASNETT_THREAD_SAFE=1 "$work/tools.c"
compiles "$cc" -fsyntax-only -DWANTED=1 -pthread "$work/tools.c"
compiles "$cc" -fsyntax-only -DWANTED=0 -pthread -DGASNETT_THREAD_SINGLE=1 "$work/tools.c"

printf '#include <gasnetex.h>\nint ok(void);\nint ok(void) { return GASNET_OK; }\n' >"$work/part.c"
printf '#include <gasnetex.h>\nint ok(void);\nint main(void) { return ok(); }\n' >"$work/main.c"
for mode in PAR PARSYNC SEQ; do
  compiles "$cc" -DGASNET_$mode -c "$work/part.c" -o "$work/part.o"
  compiles "$cc" -DGASNET_PAR -c "$work/main.c" -o "$work/main.o"
  said=$("$cc" "$work/part.o" "$work/main.o" "$library" -Wl,--allow-shlib-undefined -o "$work/program" 2>&1)
  status=$?
  right=1
  if [[ $mode == PAR ]]; then
    [[ $status -eq 0 ]] || right=0
  else
    [[ $status -ne 0 && $said =~ aqg_client_init_${mode,,} ]] || right=0
  fi
  if [[ $right -eq 0 ]]; then
    printf 'headers.sh: linking a file of mode %s to PAR ends with %s:\n%s\n' $mode $status "$said" >&2
    exit 1
  fi
done
echo 'all right'
