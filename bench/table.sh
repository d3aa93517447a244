#!/bin/sh
# Prints a table of docs/performance.md: "Shared memory (smp)", "UDP over loopback (udp)", a conduit compared with
# its network's library (ofi, ucx), collectives (coll), or those in shared memory (shared). Every row is measured now.
#
#   bench/table.sh [smp|udp|ofi|ucx|coll|shared] [BIN]   BIN holds aqperf and aqrun [build/release/bin]
#   SECONDS_PER_ROW=2                time of each row, including the raw measure
#
# Takes about two minutes. ofi and ucx use the provider or transports in AQUEDUCT_OFI_PROVIDER or
# AQUEDUCT_UCX_TRANSPORTS. Nothing else should run at the same time; the last column shows what did.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
table=${1:-smp}
bin=${2:-$root/build/release/bin}
seconds=${SECONDS_PER_ROW:-2}
missed=0

case $table in
  smp | udp | ofi | ucx | coll | shared) ;;
  *) echo "table.sh: there are the tables smp, udp, ofi, ucx, coll and shared, not '$table'" >&2; exit 2 ;;
esac
if [ ! -x "$bin/aqperf" ] || [ ! -x "$bin/aqrun" ]; then
  echo "table.sh: no aqperf and aqrun in $bin; build first (./aq build), or name their folder" >&2
  exit 2
fi

# Prints one field of a JSON line on standard input; nothing if the line does not have it.
field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p'; }
calculate() { awk "BEGIN { printf \"%.4g\", $1 }"; }
holds() { awk "BEGIN { exit !($1) }"; }
perf() { "$bin/aqperf" "$@" --json --seconds "$seconds"; }

# row WHAT COMMAND MEASURED RAW FIGURE COMPARISON GOAL UNIT OTHERS
row() {
  if holds "$5 $6 $7"; then verdict=reached; else verdict='**missed**'; missed=$((missed + 1)); fi
  sign=$(printf %s "$6" | sed 's/<=/≤/; s/>=/≥/')
  printf '| %s | `%s` | %s | %s | %.4g %s | %s %s | %s | %.2f |\n' \
    "$1" "$2" "$3" "$4" "$5" "$8" "$sign" "$7" "$verdict" "$9"
}

# compared WHAT "ARGUMENTS" FIELD COMPARISON GOAL UNIT: FIELD of each row of `aqperf ARGUMENTS --vs raw`
compared() {
  # $2 is split into words on purpose: the arguments of a command.
  # shellcheck disable=SC2086
  perf $2 --vs raw | while IFS= read -r line; do
    get() { printf '%s\n' "$line" | field "$1"; }
    unit=$(get unit)
    what=$1
    case $2 in *:*) what="$1, $(get bytes) B" ;; esac
    raw=$(get raw)
    row "$what" "aqperf $2 --vs raw" "$(calculate "$(get median)") $unit" "${raw:+$(calculate "$raw") $unit}" \
      "$(get "$3")" "$4" "$5" "$6" "$(get others_cores)"
    # The loop runs in a process of its own, so it returns its count through a file.
    echo "$missed" > "$counter"
  done
  missed=$(cat "$counter")
}

# under_load WHAT "ARGUMENTS": a latency on a quiet machine, then with a busy process on one core
under_load() {
  # shellcheck disable=SC2086
  quiet=$(perf $2 | field median)
  # shellcheck disable=SC2086
  line=$(perf $2 --load)
  get() { printf '%s\n' "$line" | field "$1"; }
  loaded=$(get median)
  row "$1, one core busy: median" "aqperf $2 --load" "$(calculate "$loaded") ns" \
    "quiet: $(calculate "$quiet") ns" "$(calculate "$loaded / $quiet")" '<=' 50 '× quiet' "$(get others_cores)"
  row "$1, one core busy: longest stall" "aqperf $2 --load" "$(calculate "$(get longest_stall_ms)") ms" '' \
    "$(get longest_stall_ms)" '<=' 20 ms "$(get others_cores)"
}

# crowd WHAT "ARGUMENTS" [GOAL]: 8 ranks compared with a token hop, then 32 ranks compared with 8 [4]
crowd() {
  compared "$1, 8 ranks" "$2 --ranks 8" ratio '<=' 3 '× a hop'
  # shellcheck disable=SC2086
  eight=$(perf $2 --ranks 8 | field median)
  # shellcheck disable=SC2086
  line=$(perf $2 --ranks 32)
  get() { printf '%s\n' "$line" | field "$1"; }
  row "$1, 32 ranks" "aqperf $2 --ranks 32" "$(calculate "$(get median)") ns" "8 ranks: $(calculate "$eight") ns" \
    "$(calculate "$(get median) / $eight")" '<=' "${3:-4}" '× 8 ranks' "$(get others_cores)"
}

# job_start RANKS GOAL
job_start() {
  line=$(perf start --ranks "$1" --vs raw)
  get() { printf '%s\n' "$line" | field "$1"; }
  row "job start and end, $1 ranks" "aqperf start --ranks $1 --vs raw" "$(calculate "$(get median)") ms" \
    "$(calculate "$(get raw)") ms" "$(get median)" '<=' "$2" ms "$(get others_cores)"
  mib=$(calculate "$(get peak_rss_kib) / 1024")
  row "peak memory of a rank, of $1" "aqperf start --ranks $1" "$mib MiB" '' "$mib" '<=' 6 MiB "$(get others_cores)"
}

smp_rows() {
  compared 'blocking put, 8 B' 'put-latency --bytes 8' difference_ns '<=' 5 'ns more'
  compared 'blocking get, 8 B' 'get-latency --bytes 8' difference_ns '<=' 5 'ns more'
  compared 'put bandwidth' 'put-bandwidth --bytes 4K:4M' ratio '>=' 0.97 '× raw'
  compared 'AM round trip, short' 'am-latency --bytes 0' ratio '<=' 1.6 '× raw'
  compared 'AM round trip, medium 512 B' 'am-latency --bytes 512' ratio '<=' 2.5 '× raw'
  compared 'AM rate, short' 'am-rate --bytes 0' median '>=' 25 'M/s'
  compared 'barrier, 2 ranks' 'barrier' ratio '<=' 0.8 '× raw'
  under_load 'barrier, 2 ranks' 'barrier'
  under_load 'AM round trip, short' 'am-latency --bytes 0'
  crowd 'barrier' 'barrier'
  crowd 'AM round trip' 'am-latency --bytes 0'
  job_start 2 30
  job_start 32 150
  job_start 128 600
}

# secured MODE WHAT "ARGUMENTS": the median of the figure WHAT in five short runs with AQUEDUCT_UDP_SECURITY=MODE. The
# mode is a setting of a job, so two modes cannot take turns within one job.
secured() {
  for turn in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    AQUEDUCT_UDP_SECURITY=$1 perf $3 --vs raw | field "$2"
  done | sort -g | sed -n 3p
}

udp_rows() {
  export AQUEDUCT_NEAR=off AQUEDUCT_CONDUIT=udp
  compared '8 B put round trip' 'put-latency --bytes 8' ratio '<=' 1.25 '× bare UDP'
  compared 'AM short round trip' 'am-latency --bytes 0' ratio '<=' 1.25 '× bare UDP'
  compared '8 B get round trip' 'get-latency --bytes 8' ratio '<=' 1.25 '× bare UDP'
  compared 'put bandwidth' 'put-bandwidth --bytes 256K:4M' ratio '>=' 0.7 '× bare GSO→GRO'
  compared 'put bandwidth' 'put-bandwidth --bytes 256K:4M' ratio_tcp '>=' 1 '× bare TCP'
  compared 'put rate, 8 B' 'put-rate --bytes 8' median '>=' 2 'M/s'
  header=$(secured header ratio 'put-latency --bytes 8')
  none=$(secured none ratio 'put-latency --bytes 8')
  raw=$(perf put-latency --bytes 8 --vs raw | field raw)
  row 'authentication, 8 B put' 'AQUEDUCT_UDP_SECURITY=header|none aqperf put-latency --vs raw' "$header" "none: $none" \
    "$(calculate "($header - $none) * $raw")" '<=' 300 ns 0
  header=$(secured header ratio 'put-bandwidth --bytes 1M')
  none=$(secured none ratio 'put-bandwidth --bytes 1M')
  row 'authentication, 1 MiB puts' 'AQUEDUCT_UDP_SECURITY=header|none aqperf put-bandwidth --vs raw' "$header" "none: $none" \
    "$(calculate "$header / $none")" '>=' 0.95 '× none' 0
  full=$(secured full median 'put-bandwidth --bytes 1M')
  row 'full encryption, 1 MiB puts' 'AQUEDUCT_UDP_SECURITY=full aqperf put-bandwidth' "$full MB/s" '' "$full" '>=' 1000 MB/s 0
}

# beside WHAT "ARGUMENTS": a latency, which may exceed that of the library's own calls by 5 % and 50 ns
beside() {
  # shellcheck disable=SC2086
  line=$(perf $2 --vs raw)
  get() { printf '%s\n' "$line" | field "$1"; }
  row "$1" "aqperf $2 --vs raw" "$(calculate "$(get median)") ns" "$(calculate "$(get raw)") ns" \
    "$(calculate "$(get median) - 1.05 * $(get raw)")" '<=' 50 'ns beyond 1.05 × raw' "$(get others_cores)"
}

# over TRANSPORT: compares a conduit with its network's library in the same run. The library's calls use the same
# provider or transports, and the same meaning of completion.
over() {
  beside "8 B put, $1" 'put-latency --bytes 8'
  beside "8 B get, $1" 'get-latency --bytes 8'
  beside "AM short round trip, $1" 'am-latency --bytes 0'
  compared "put bandwidth, $1" 'put-bandwidth --bytes 64K:4M' ratio '>=' 0.97 '× bare'
  compared "get bandwidth, $1" 'get-bandwidth --bytes 64K:4M' ratio '>=' 0.97 '× bare'
  compared "put rate, 8 B, window 64, $1" 'put-rate --bytes 8' ratio '>=' 0.97 '× bare'
}

ofi_rows() {
  export AQUEDUCT_NEAR=off AQUEDUCT_CONDUIT=ofi
  export AQUEDUCT_OFI_PROVIDER="${AQUEDUCT_OFI_PROVIDER:-tcp;ofi_rxm}"
  over "$AQUEDUCT_OFI_PROVIDER"
}

ucx_rows() {
  export AQUEDUCT_NEAR=off AQUEDUCT_CONDUIT=ucx
  for transports in ${AQUEDUCT_UCX_TRANSPORTS:-tcp,self posix,cma,self}; do
    export AQUEDUCT_UCX_TRANSPORTS="$transports"
    over "$transports"
  done
}

# The goals of issue 17. A share of 0.85 of the puts' throughput is 1 / 0.85 = 1.18 times their time. Each with the modes
# mine/mine, which are those of MPI, and all/all, where further messages go before and after.
coll_rows() {
  export AQUEDUCT_NEAR=off AQUEDUCT_CONDUIT=udp
  for modes in mine all; do
    both="--in $modes --out $modes"
    compared "8 B all-reduce, 4 ranks, udp, $modes/$modes" "coll-all-reduce --ranks 4 --bytes 8 $both" ratio '<=' 1.1 \
      '× half round trips'
    compared "1 MiB broadcast, 4 ranks, udp, $modes/$modes" "coll-broadcast --ranks 4 --bytes 1M $both" ratio '<=' 1.18 \
      '× puts'
    compared "64 KiB all-gather, 4 ranks, udp, $modes/$modes" "coll-all-gather --ranks 4 --bytes 64K $both" ratio '<=' 1.18 \
      '× puts'
  done
  compared '8 all-reduces of 8 B in flight, 4 ranks, udp' 'coll-all-reduce --ranks 4 --bytes 8 --in-flight 8' \
    ratio_single '>=' 2 '× one by one'
  export AQUEDUCT_COLL_PROGRESS=100us
  compared '1 MiB all-reduce beside computing, udp' 'coll-all-reduce --bytes 1M --overlap' beside_work '<=' 1.1 '× work'
  export AQUEDUCT_UDP_FAULTS=delay=2ms
  compared 'the same, 2 ms of delay' 'coll-all-reduce --bytes 1M --overlap' hidden '>=' 0.7 'of the waiting'
  unset AQUEDUCT_COLL_PROGRESS AQUEDUCT_UDP_FAULTS
  export AQUEDUCT_CONDUIT=ofi AQUEDUCT_OFI_PROVIDER="${AQUEDUCT_OFI_PROVIDER:-tcp;ofi_rxm}"
  for modes in mine all; do
    compared "8 B all-reduce, 4 ranks, $AQUEDUCT_OFI_PROVIDER, $modes/$modes" \
      "coll-all-reduce --ranks 4 --bytes 8 --in $modes --out $modes" ratio '<=' 1.1 '× half round trips'
  done
}

# beyond_a_line WHAT "ARGUMENTS" GOAL: a time, less the round trip of a line in the same run, beside raw
beyond_a_line() {
  # shellcheck disable=SC2086
  line=$(perf $2 --vs raw)
  get() { printf '%s\n' "$line" | field "$1"; }
  if [ -z "$(get cacheline_ns_before)" ]; then
    echo "table.sh: $1: ranks share processors, so there is no round trip of a line" >&2
    return
  fi
  row "$1" "aqperf $2 --vs raw" "$(calculate "$(get median)") ns" "$(calculate "$(get raw)") ns" \
    "$(calculate "($(get median) - $(get cacheline_ns_before)) / $(get raw)")" '<=' "$3" \
    '× raw, beside a line there and back' "$(get others_cores)"
}

# beside_copies WHAT BENCH SETTING "ARGUMENTS": the choice of the library beside copies in and out. A setting is one of a job,
# so the two take turns; the medians of five short runs.
beside_copies() {
  chosen='' copied=''
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    chosen="$chosen $(perf $2 $4 | field median)"
    # shellcheck disable=SC2086
    copied="$copied $(export "$3=flags-stream" && perf $2 $4 | field median)"
  done
  # Split into words on purpose.
  # shellcheck disable=SC2086
  middle() { printf '%s\n' $1 | sort -g | sed -n 3p; }
  row "$1" "aqperf $2 $4, also with $3=flags-stream" "$(calculate "$(middle "$chosen")") ns" \
    "copies: $(calculate "$(middle "$copied")") ns" "$(calculate "$(middle "$copied") / $(middle "$chosen")")" '>=' 1.2 \
    '× as fast' 0
}

# The goals of issue 19. Raw is the round trip of a cache line up to 48 B, above that a memcpy of the larger buffer of a call out
# of what the peer has just written: of both blocks in a reduce-scatter or all-to-all. What is compared with other
# libraries: bench/peers.
shared_rows() {
  export AQUEDUCT_CONDUIT=smp
  loose='--in mine --out mine'
  # Long blocks lie in segments, where others read them.
  long="--single $loose"
  compared 'barrier, 2 ranks' 'barrier' ratio '<=' 0.6 '× line'
  compared 'all-reduce, 2 ranks' "coll-all-reduce --bytes 8 $loose" ratio '<=' 0.7 '× line'
  compared 'all-reduce, 2 ranks' "coll-all-reduce --bytes 48 $loose" ratio '<=' 0.7 '× line'
  compared 'broadcasts in a row, mine/mine' "coll-broadcast --bytes 8 $loose" ratio '<=' 0.3 '× line'
  compared 'broadcast, all/all' 'coll-broadcast --bytes 8' ratio '<=' 1 '× line'
  beyond_a_line 'all-reduce, 4096 B' "coll-all-reduce --bytes 4K $loose" 1.6
  # A bandwidth of 0.95 of raw is 1 / 0.95 of its time.
  compared 'broadcast' "coll-broadcast --bytes 64K:4M $long" ratio '<=' 1.053 '× memcpy'
  compared 'all-reduce, 2 ranks' "coll-all-reduce --bytes 1M $long" ratio '<=' 1.5 '× memcpy'
  compared 'reduce-scatter of 1 MiB, 2 ranks' "coll-reduce-scatter --bytes 512K $long" ratio '<=' 0.9 '× memcpy'
  # 2.1 × memcpy of one block is 1.05 × that of both.
  compared 'all-to-all, for each pair' "coll-all-to-all --bytes 64K:1M $long" ratio '<=' 1.05 '× memcpy of both'
  crowd 'barrier' 'barrier' 5
  crowd '8 B all-reduce' "coll-all-reduce --bytes 8 $loose" 5
  beside_copies '1 MiB all-reduce, 8 ranks, beside copies in and out' coll-all-reduce AQUEDUCT_COLL_ALL_REDUCE \
    "--ranks 8 --bytes 1M $long"
  under_load 'barrier' 'barrier'
  under_load '8 B all-reduce' "coll-all-reduce --bytes 8 $loose"
}

counter=$(mktemp)
trap 'rm -f "$counter"' EXIT

model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo 'no commit yet')
echo "Machine: $(nproc) cores, ${model:-unknown}, Linux $(uname -r). Commit: $commit. Command: \`bench/table.sh $table\`."
line=$(AQUEDUCT_NEAR=on perf barrier)  # over shared memory, whichever conduit the table is about
echo "A cache line there and back: $(printf '%s\n' "$line" | field cacheline_ns_before) ns."
echo
echo '| what | command | measured | raw | figure | goal | | others, cores |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
"${table}_rows"

if [ "$missed" -gt 0 ]; then echo "table.sh: $missed rows missed their goal" >&2; fi
