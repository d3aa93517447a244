#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/rank.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::perf {

/// Sizes to measure: doubling from `first`, and `last` itself.
struct ByteRange {
  std::size_t first = 8;
  std::size_t last = 8;

  std::vector<std::size_t> sizes() const;
};

/// Reads "8", "8:1M" or "4K:4M" (K, M, G are powers of 1024); nothing for other texts.
std::optional<ByteRange> parse_bytes(std::string_view text);

/// coll-…: how the call is made, besides its operation and bytes.
struct CollForm {
  CollOptions call;     ///< sync modes and order
  bool single = false;  ///< buffers that all members know
  bool plan = false;
  unsigned in_flight = 0;  ///< how many non-blocking calls at once; 0: blocking calls
  bool overlap = false;    ///< beside computing
  bool modified = false;   ///< each call finds its buffers in the Modified state of their owner's cache

  /// Whether any of it was asked for.
  bool given() const noexcept {
    return single || plan || in_flight > 0 || overlap || modified || call.in != Sync::all ||
           call.out != Sync::all || call.order != ReduceOrder::any;
  }
};

/// coll-…: jobs that are measured in turns, in place of one (sweep/variants.hpp).
struct SweepForm {
  std::vector<std::string> algorithms;  ///< each forced in a job of its own
  bool trees = false;                   ///< the algorithms by trees, with every number of members below each
  bool divide = false;                  ///< the ranks as every number of hosts that divides them
  std::optional<ByteRange> hosts;       ///< so many hosts, of --ranks each
  bool is_part = false;                 ///< this process is of such a job
};

/// The argument that makes a process part of a sweep's job.
inline constexpr const char* kPartOfSweep = "--part-of-sweep";

/// The options of the command line.
struct Options {
  std::string bench;
  std::optional<ByteRange> bytes;            ///< unset: the benchmark's own range
  std::chrono::duration<double> seconds{1};  ///< for each row, raw measure included
  int repeat = 5;                            ///< how often raw and measured take turns
  bool json = false;
  bool vs_raw = false;   ///< also measure the comparator
  bool vs_puts = false;  ///< coll-…: which is made of puts, also on mapped memory
  Rank ranks = 0;        ///< 0: as many as the job has, or 2 when aqperf starts the job itself
  Rank threads = 0;      ///< ranks as threads of one process; 0: as processes
  Rank peers = 1;        ///< put-bandwidth, get-bandwidth: how many targets take turns
  std::size_t window = 64;
  bool bidirectional = false;
  bool outside = false;     ///< target memory is the caller's, not the library's
  bool statistics = false;  ///< print at the end what the conduits know of each peer
  bool load = false;        ///< a busy process takes one core during the measurement
  unsigned callers = 1;     ///< am-threads: threads of a rank that send
  unsigned spinners = 0;    ///< am-threads: further threads of a sending rank, which only take cores
  bool own_mutex =
      false;           ///< am-threads: the callers take a mutex of their own instead of the endpoint's lock
  bool guard = false;  ///< the endpoint guards itself, though one thread uses it
  CollForm coll;
  SweepForm sweep;
  std::string operation = "add";
  std::size_t size = 0;  ///< matrix-vector: rows; tree-building: bodies; 0: the benchmark's own
  std::string profile;   ///< calibrate: the profile to write, or a folder
  std::string conduit;   ///< empty: as the environment says

  std::size_t largest_bytes() const;
};

/// The outcome of reading a command line: options, or an exit status and a text to print.
struct CommandLine {
  std::optional<Options> options;
  int exit_status = 0;
  std::string message;
};
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace aqueduct::perf
