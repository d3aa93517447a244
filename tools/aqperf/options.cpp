#include "tools/aqperf/options.hpp"

#include "conduits/registry.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/sweep/variants.hpp"
#include "tools/given_value.hpp"
#include "tools/sizes.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

namespace aqueduct::perf {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostRows = 32768;                   // rank 0 has the whole matrix: 8 GiB
constexpr std::size_t kMostBodies = std::size_t{1} << 28;  // 8 GiB in all

/// Finds options that do not fit together or the benchmark, each being readable by itself; empty if all fit.
std::string problem_of(const Options& options) {
  const Bench* bench = find_bench(options.bench);
  if (bench == nullptr) {
    return fmt::format("there is no benchmark '{}'; there are: {}", options.bench, bench_names());
  }
  if (options.bytes && !bench->has_bytes) {
    return fmt::format("{} has no sizes; leave --bytes out", options.bench);
  }
  if (options.bytes && options.bytes->first == 0 && !bench->zero_bytes) {
    return fmt::format("--bytes begins with 0, and {} needs at least 1; try --bytes 1:{}", options.bench,
                       std::max<std::size_t>(1, options.bytes->last));
  }
  if (options.outside && !bench->outside) {
    return fmt::format("--memory outside is for put and get benchmarks, not for {}", options.bench);
  }
  if (options.bench != "am-threads" && (options.callers > 1 || options.spinners > 0 || options.own_mutex))
    return fmt::format("--callers, --spinners and --own-mutex are for am-threads, not for {}", options.bench);
  const std::string& conduit = options.conduit;
  if (!conduit.empty() && conduit != "auto" && !conduits::is_path(conduit) &&
      conduits::find(conduit) == nullptr)
    return fmt::format("--conduit {}: there is no such conduit; this build has {}{}", conduit,
                       conduits::names(), conduits::nearest(conduit).hint());
  const bool floods = options.bench.ends_with("-bandwidth") || options.bench == "put-rate";
  if (!floods && (options.peers > 1 || options.bidirectional))
    return fmt::format(
        "--peers and --bidirectional are for put-bandwidth, get-bandwidth and put-rate, not for {}",
        options.bench);
  if (!floods && options.bench != "coroutine-gets" && options.window != Options{}.window)
    return fmt::format(
        "--window is for put-bandwidth, get-bandwidth, put-rate and coroutine-gets, not for {}",
        options.bench);
  if (options.bench != "atomic-latency" && options.operation != Options{}.operation)
    return fmt::format("--op is for atomic-latency, not for {}", options.bench);
  if (bench->run == nullptr && (options.threads > 0 || options.load || options.guard || options.statistics))
    return fmt::format(
        "--threads, --load, --guard and --statistics are not for {}, which starts jobs of its own",
        options.bench);
  if (options.bench != "calibrate" && !options.profile.empty())
    return fmt::format("--profile is for calibrate, not for {}", options.bench);
  const bool collective = options.bench.starts_with("coll-");
  if (!collective && options.coll.given()) {
    return fmt::format(
        "--in, --out, --order, --single, --plan, --in-flight, --overlap and --modified are for coll-…, not "
        "for {}",
        options.bench);
  }
  const bool adds = collective && (options.bench.find("reduce") != std::string::npos ||
                                   options.bench.find("scan") != std::string::npos);
  if (adds && options.bytes && (options.bytes->first % 8 != 0 || options.bytes->last % 8 != 0)) {
    return fmt::format("--bytes: {} adds integers of 8 bytes; give multiples of 8", options.bench);
  }
  if (!collective && options.vs_puts)
    return fmt::format("--vs puts is for coll-…, not for {}; try --vs raw", options.bench);
  if (options.coll.overlap && (options.coll.in_flight > 0 || options.coll.plan))
    return "--overlap cannot be combined with --in-flight or --plan";
  if (options.coll.modified && (options.coll.in_flight > 0 || options.coll.overlap || options.vs_raw))
    return "--modified is for single blocking calls, and cannot be combined with --in-flight, --overlap or "
           "--vs";
  if (options.coll.modified && options.bench == "coll-barrier")
    return "--modified writes the buffers of calls, and coll-barrier has none";
  if (options.coll.overlap && options.threads > 0)
    return "--overlap needs a process for each rank, whose processor time it reads; give --ranks";
  if (options.bench == "idle" && options.threads > 0)
    return "idle needs a process for each rank, whose processor time it reads; give --ranks";
  if (options.guard && options.own_mutex)
    return "--guard and --own-mutex cannot be combined; give one of them";
  if (options.threads > 0 && options.ranks > 0)
    return "--threads and --ranks cannot be combined; give one of them";
  return problem_of_sweep(options);
}

/// --size; what is wrong with it, empty if nothing is.
std::string read_size_option(const std::string& text, Options& options) {
  const bool matrix = options.bench == "matrix-vector";
  if (!matrix && options.bench != "tree-building")
    return fmt::format("--size is for matrix-vector and tree-building, not for {}", options.bench);
  const std::size_t most = matrix ? kMostRows : kMostBodies;
  const auto size = tools::read_size(text);
  if (!size || *size == 0 || *size > most)
    return fmt::format("--size '{}' is not a number of {} from 1 to {}", text, matrix ? "rows" : "bodies",
                       most);
  options.size = *size;
  return {};
}

/// A job of a sweep is one turn of one variant, and tells the sweep what it has measured. --seconds are those of a row of the sweep.
void become_part_of_sweep(Options& options) {
  options.seconds /= static_cast<double>(variants_of(options).size()) * options.repeat;
  options.repeat = 1;
  options.json = true;
  options.ranks = 0;
}

/// Reads one of the words; `words` are in the order of the enumeration.
template <class E, std::size_t kCount>
E enumerator(const std::array<const char*, kCount>& words, const std::string& word) {
  return static_cast<E>(std::find(words.begin(), words.end(), word) - words.begin());
}
constexpr std::array kSyncs{"none", "mine", "all"};
constexpr std::array kOrders{"any", "same_everywhere", "exact"};

std::string as_text(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  app.exit(error, out, out);
  return out.str();
}

}  // namespace

std::vector<std::size_t> ByteRange::sizes() const {
  std::vector<std::size_t> out;
  for (std::size_t bytes = first; bytes < last; bytes = bytes == 0 ? 1 : bytes * 2) out.push_back(bytes);
  out.push_back(last);
  return out;
}

std::optional<ByteRange> parse_bytes(std::string_view text) {
  const auto colon = text.find(':');
  const auto first = tools::read_size(text.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : tools::read_size(text.substr(colon + 1));
  if (!first || !last || *last < *first || *last > kMostBytes) return std::nullopt;
  return ByteRange{*first, *last};
}

std::size_t Options::largest_bytes() const {
  const Bench* found = find_bench(bench);
  return bytes ? bytes->last : found != nullptr ? found->bytes.last : 0;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  std::string bytes, hosts, size, memory = "segment", raw, in = "all", out = "all", order = "any";
  double seconds = 1;

  CLI::App app{"aqperf: how fast Aqueduct is here, and how fast the machine itself is", "aqperf"};
  app.footer("Benchmarks:\n" + bench_help() +
             "\nWithout aqrun (or another launcher) aqperf starts its own job of 2 ranks.");
  app.add_option("BENCH", options.bench, "what to measure (below)")->required();
  app.add_option("--bytes", bytes, "one size, or a range A:B by doubling; K, M and G are powers of 1024")
      ->check(tools::given_value());
  app.add_option("--seconds", seconds,
                 "time for each row, raw measure included [1]; jobs in turns (--algorithm, --trees, "
                 "--divide, --hosts) warm up for 50 ms besides")
      ->check(
          [](const std::string& text) -> std::string {
            const double value = tools::read_real(text).value_or(0);
            return value >= 0.001 && value <= 3600 ? "" : text + " is not a number from 0.001 to 3600";
          },
          "in [0.001 - 3600]");
  app.add_option("--repeat", options.repeat, "how often raw and measured take turns in a row [5]")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 1000));
  app.add_flag("--json", options.json, "one JSON object per line");
  app.add_option(
         "--vs", raw,
         "'raw': in turns, also measure the best that the machine itself does; 'puts': coll-…: puts of "
         "the same bytes between the same ranks")
      ->check(CLI::IsMember({"raw", "puts"}));
  app.add_option("--ranks", options.ranks, "ranks of the job that aqperf starts [2]")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 256));
  app.add_option("--threads", options.threads, "instead: ranks as threads of this process")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 64));
  app.add_option("--conduit", options.conduit, "conduit by name, as AQUEDUCT_CONDUIT")
      ->check(tools::given_value());
  app.add_option("--profile", options.profile, "calibrate: the profile to write, or a folder of profiles [.]")
      ->check(tools::given_value());
  app.add_option("--peers", options.peers, "bandwidth and put-rate: targets that take turns [1]")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 255));
  app.add_option("--window", options.window,
                 "bandwidth, put-rate and coroutine-gets: operations in flight [64]")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 1024));
  app.add_flag("--bidirectional", options.bidirectional, "bandwidth and put-rate: every rank sends");
  app.add_option("--memory", memory,
                 "target memory: a 'segment' of the library, or 'outside': the caller's own")
      ->check(CLI::IsMember({"segment", "outside"}));
  app.add_option("--callers", options.callers, "am-threads: threads of a rank that send [1]")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 64));
  app.add_option("--spinners", options.spinners, "am-threads: further threads that only take cores [0]")
      ->check(tools::decimal())
      ->check(CLI::Range(0, 64));
  app.add_flag("--own-mutex", options.own_mutex,
               "am-threads: the callers share a mutex of their own, not the endpoint's lock");
  app.add_flag("--guard", options.guard, "any benchmark: with AQUEDUCT_THREADS=multiple");
  app.add_option("--op", options.operation, "atomic-latency: which atomic [add]")
      ->check(CLI::IsMember({"add", "xor", "min", "swap", "compare_swap", "load", "store"}));
  app.add_option("--in", in, "coll-…: whose calls must come before their input is touched [all]")
      ->check(CLI::IsMember({"none", "mine", "all"}));
  app.add_option("--out", out, "coll-…: whose output is final when a call returns [all]")
      ->check(CLI::IsMember({"none", "mine", "all"}));
  app.add_option("--order", order, "coll-…: how partial results may be combined [any]")
      ->check(CLI::IsMember({"any", "same_everywhere", "exact"}));
  app.add_flag("--single", options.coll.single, "coll-…: buffers that all ranks know");
  app.add_flag("--plan", options.coll.plan, "coll-…: start a plan, which was bound before");
  app.add_option("--in-flight", options.coll.in_flight,
                 "coll-…: N non-blocking calls at once, compared with one after the other")
      ->check(tools::decimal())
      ->check(CLI::Range(1, 256));
  app.add_flag("--overlap", options.coll.overlap, "coll-…: a non-blocking call beside computing");
  app.add_flag(
      "--modified", options.coll.modified,
      "coll-…: before each call every rank writes its own buffers, so that they are in the Modified state of "
      "its cache, and waits in a barrier; the call alone is timed, one for each sample (reading the clock "
      "included)");
  app.add_option(
         "--size", size,
         "matrix-vector: rows of the matrix [2048]; tree-building: bodies [256K]; K and M are powers of "
         "1024")
      ->check(tools::given_value());
  app.add_option("--algorithm", options.sweep.algorithms,
                 "coll-…: force this algorithm ('auto': none); given several times: jobs with each, in turns")
      ->allow_extra_args(false)
      ->check(tools::given_value());
  app.add_flag(
      "--trees", options.sweep.trees,
      "coll-broadcast, coll-reduce, coll-all-reduce: in turns, jobs with trees of 2, 3, 4, 8 and 16 "
      "members below each, and without trees; of reductions those of blocks that fit into a slot of the "
      "team's board: longer ones by --algorithm mapped-tree:radix=N");
  app.add_flag("--divide", options.sweep.divide,
               "coll-…: in turns, jobs of the --ranks as N processes of T ranks each, for every N x T, that "
               "share no memory; tells which is best");
  app.add_option("--hosts", hosts,
                 "coll-…: in turns, jobs of N hosts of --ranks each, or of A:B by doubling; pretended ones, "
                 "which share no memory")
      ->check(tools::given_value());
  app.add_flag(kPartOfSweep, options.sweep.is_part, "")->group("");
  app.add_flag(
      "--statistics", options.statistics,
      "at the end, print on standard error what each rank's conduits know of each peer, and its counters");
  app.add_flag("--load", options.load, "measure while a busy process takes one core");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, 0, as_text(app, error)};
    return {std::nullopt, kUsageError, "aqperf: " + as_text(app, error)};
  }

  options.vs_raw = !raw.empty();
  options.vs_puts = raw == "puts";
  options.coll.call.in = enumerator<Sync>(kSyncs, in);
  options.coll.call.out = enumerator<Sync>(kSyncs, out);
  options.coll.call.order = enumerator<ReduceOrder>(kOrders, order);
  options.outside = memory == "outside";
  options.seconds = std::chrono::duration<double>(seconds);
  std::string problem;
  if (!bytes.empty() && !(options.bytes = parse_bytes(bytes))) {
    problem = fmt::format("--bytes '{}' is not a size like 8 or 64K, nor a rising range like 8:1M, up to 1G",
                          bytes);
  } else if (!hosts.empty() && !(options.sweep.hosts = parse_bytes(hosts))) {
    problem = fmt::format("--hosts '{}' is not a number like 2, nor a rising range like 1:4", hosts);
  } else {
    problem = problem_of(options);
  }
  if (problem.empty() && !size.empty()) problem = read_size_option(size, options);
  if (problem.empty() && options.sweep.is_part) become_part_of_sweep(options);
  if (!problem.empty()) return {std::nullopt, kUsageError, "aqperf: " + problem + "\n"};
  return {std::move(options), 0, {}};
}

}  // namespace aqueduct::perf
