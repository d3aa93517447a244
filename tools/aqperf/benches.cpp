#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/calibrate/calibration.hpp"

#include <fmt/core.h>

#include <array>

namespace aqueduct::perf {

namespace {

constexpr std::size_t kKilo = 1024;
constexpr ByteRange kLatencyBytes{8, 8};
constexpr ByteRange kBandwidthBytes{4 * kKilo, 4 * kKilo* kKilo};
constexpr ByteRange kBlockBytes{8, 1024 * kKilo};
constexpr ByteRange kNoBytes{0, 0};

/// A collective operation; --bytes are those of a block.
constexpr Bench coll(std::string_view name, std::string_view help) {
  return {name, help, kBlockBytes, true, false, false, collective};
}

// The three flags are has_bytes, zero_bytes and outside.
constexpr std::array kBenches{
    Bench{"put-latency", "a put until it is complete at the target", kLatencyBytes, true, false, true,
          put_latency},
    Bench{"get-latency", "a get until the bytes are here", kLatencyBytes, true, false, true, get_latency},
    Bench{"put-bandwidth", "windows of non-blocking puts, bytes per second", kBandwidthBytes, true, false,
          true, put_bandwidth},
    Bench{"get-bandwidth", "windows of non-blocking gets, bytes per second", kBandwidthBytes, true, false,
          true, get_bandwidth},
    Bench{"put-rate", "windows of non-blocking puts, operations per second", kLatencyBytes, true, false, true,
          put_rate},
    Bench{"am-latency", "active message and its reply; 0 bytes: short, else medium", kNoBytes, true, true,
          false, am_latency},
    Bench{"am-rate", "active messages in one direction; 0 bytes: short, more: medium, above its limit: long",
          kNoBytes, true, true, false, am_rate},
    Bench{"am-threads", "short messages by several threads of one rank (--callers, --own-mutex, --spinners)",
          kNoBytes, false, false, false, am_threads},
    Bench{"entry", "a call that does nothing but enter and leave the endpoint (compare with --guard)",
          kNoBytes, false, false, false, entry_cost},
    Bench{"atomic-latency", "one atomic on a peer's memory (--op)", kLatencyBytes, false, false, false,
          atomic_latency},
    Bench{"barrier", "a barrier of all ranks", kNoBytes, false, false, false, barrier},
    Bench{"signal-latency", "put-with-signal there and back", kLatencyBytes, true, true, false,
          signal_latency},
    Bench{"put-pingpong", "a put of 8 B there and one back, seen in memory", kLatencyBytes, false, false,
          false, put_pingpong},
    Bench{"word-put", "a put of one aligned word, compared with the same bytes across two words",
          kLatencyBytes, false, false, true, word_put},
    Bench{"word-get", "a get of one aligned word, compared with the same bytes across two words",
          kLatencyBytes, false, false, true, word_get},
    Bench{"coroutine-gets", "--window gets of 8 B in flight by coroutines, compared with a loop",
          kLatencyBytes, false, false, false, coroutine_gets},
    Bench{"idle",
          "processor time for each second that ranks wait for rank 0, which is away (--seconds: a row)",
          kLatencyBytes, false, false, false, idle},
    Bench{"vis-nest",
          "strided transfers, compared with loops written by hand (--bytes: element)",
          {8, 4 * kKilo},
          true,
          false,
          false,
          vis_nest},
    Bench{"vis-kernels",
          "rows copied in memory by the loop and by each kernel (--bytes: extent)",
          {4 * kKilo, 64 * kKilo* kKilo},
          true,
          false,
          false,
          vis_kernels},
    Bench{"vis-pieces",
          "256 B pieces 850 B apart (--bytes: in all), compared with single transfers and a contiguous one",
          {256, 256 * kKilo},
          true,
          false,
          false,
          vis_pieces},
    Bench{"vis-gather", "100,000 random elements of 8 B, compared with single gets", kNoBytes, false, false,
          false, vis_gather},
    Bench{"vis-near",
          "two doubles at a distance (--bytes), compared with two gets, and one of everything between",
          {16, 16 * kKilo},
          true,
          false,
          false,
          vis_near},
    Bench{"vis-plans", "500 strided shapes: the chosen plan compared with the best one", kNoBytes, false,
          false, false, vis_plans},
    Bench{"coll-barrier", "a barrier by the engine of the collective operations", kNoBytes, false, false,
          false, collective},
    coll("coll-broadcast", "the root's block to all ranks (--bytes: a block)"),
    coll("coll-scatter", "a block for each rank from the root"),
    coll("coll-gather", "a block of each rank to the root"),
    coll("coll-all-gather", "a block of each rank to all ranks"),
    coll("coll-all-to-all", "a block of each rank to each rank"),
    coll("coll-reduce", "the sum of 64-bit integers at the root"),
    coll("coll-all-reduce", "the sum at all ranks (--in-flight, --overlap)"),
    coll("coll-reduce-scatter", "a block of the sum at each rank"),
    coll("coll-scan", "the sum up to each rank"),
    coll("coll-exscan", "the sum before each rank"),
    Bench{"matrix-vector",
          "time inside collectives of a dense matrix times a vector, whose columns are split (--size: rows)",
          kNoBytes, false, false, false, matrix_vector},
    Bench{"tree-building",
          "time inside the all-reduces that divide space among the bodies of a tree code (--size: bodies)",
          kNoBytes, false, false, false, tree_building},
    Bench{"calibrate",
          "L, o, g and G between rank 0 and the last one, for a profile (--profile)",
          {kCalibratedBytes, kCalibratedBytes},
          false,
          false,
          false,
          calibrate_network},
    Bench{"start", "a job of --ranks from start to end, and the memory of a rank", kNoBytes, false, false,
          false, nullptr},
};

}  // namespace

std::span<const Bench> benches() noexcept { return kBenches; }

const Bench* find_bench(std::string_view name) noexcept {
  for (const Bench& bench : kBenches) {
    if (bench.name == name) return &bench;
  }
  return nullptr;
}

std::string bench_names() {
  std::string out;
  for (const Bench& bench : kBenches) out += (out.empty() ? "" : " ") + std::string(bench.name);
  return out;
}

std::string bench_help() {
  std::string out;
  for (const Bench& bench : kBenches) out += fmt::format("  {:<19} {}\n", bench.name, bench.help);
  return out;
}

}  // namespace aqueduct::perf
