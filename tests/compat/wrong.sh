#!/usr/bin/env bash
# wrong.sh <aqrun> <client> [<options of aqrun…>]: each mistake ends the job with a line that names the call.
set -uo pipefail
run=$1 client=$2
shift 2

# <case> <self or next> <pattern>
ends() {
  local said status
  said=$("$run" --timeout 20 -n 2 "${options[@]}" "$client" "$1" "$2" 2>&1)
  status=$?
  if [[ $status -ne 1 || ! $said =~ "FATAL ERROR (rank "[01]"): "$3 ]]; then
    printf 'wrong.sh: %s to %s ends with status %s and says:\n%s\n' "$1" "$2" "$status" "$said" >&2
    exit 1
  fi
}
options=("$@")
for to in self next; do
  ends medium $to 'gex_AM_RequestMedium: (a null pointer|invalid_argument)'
  ends long $to 'gex_AM_RequestLong: (a null pointer|invalid_argument)'
  ends reply $to 'gex_AM_ReplyLong: (a null pointer|invalid_argument)'
  ends put $to 'gex_RMA_PutBlocking: '
  ends put_nb $to 'gex_RMA_PutNB: '
  ends put_nbi $to 'gex_RMA_PutNBI: '
  ends get $to 'gex_RMA_GetBlocking: '
  ends get_nb $to 'gex_RMA_GetNB: '
  ends get_nbi $to 'gex_RMA_GetNBI: '
  ends vector_put $to 'gex_VIS_VectorPut: '
  ends vector_get $to 'gex_VIS_VectorGet: '
  ends indexed_put $to 'gex_VIS_IndexedPut: '
  ends indexed_get $to 'gex_VIS_IndexedGet: '
  ends strided_put $to 'gex_VIS_StridedPut: '
  ends strided_get $to 'gex_VIS_StridedGet: '
done
echo 'all right'
