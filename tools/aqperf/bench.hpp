#pragma once

#include "tools/aqperf/options.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::perf {

class Session;
class Reporter;

/// An entry of the list of benchmarks (benches.cpp).
struct Bench {
  std::string_view name;
  std::string_view help;
  ByteRange bytes;          ///< the sizes measured unless --bytes is given
  bool has_bytes = true;    ///< whether --bytes applies
  bool zero_bytes = false;  ///< whether a size of 0 is allowed
  bool outside = false;     ///< whether --memory outside is allowed
  /// Every rank of the job calls it; null for benchmarks that start jobs rather than run in one.
  void (*run)(Session&, Reporter&) = nullptr;
};

std::span<const Bench> benches() noexcept;
const Bench* find_bench(std::string_view name) noexcept;
std::string bench_names();
std::string bench_help();

// Each is in the file of benches/ that its comment names.
void put_latency(Session&, Reporter&);        // rma_latency.cpp
void get_latency(Session&, Reporter&);        // rma_latency.cpp
void put_bandwidth(Session&, Reporter&);      // rma_bandwidth.cpp
void get_bandwidth(Session&, Reporter&);      // rma_bandwidth.cpp
void put_rate(Session&, Reporter&);           // rma_bandwidth.cpp
void am_latency(Session&, Reporter&);         // am_latency.cpp
void am_rate(Session&, Reporter&);            // am_rate.cpp
void am_threads(Session&, Reporter&);         // am_threads.cpp
void entry_cost(Session&, Reporter&);         // am_threads.cpp
void atomic_latency(Session&, Reporter&);     // atomic_latency.cpp
void barrier(Session&, Reporter&);            // synchronization.cpp
void signal_latency(Session&, Reporter&);     // synchronization.cpp
void put_pingpong(Session&, Reporter&);       // synchronization.cpp
void word_put(Session&, Reporter&);           // words.cpp
void word_get(Session&, Reporter&);           // words.cpp
void coroutine_gets(Session&, Reporter&);     // coroutines.cpp
void idle(Session&, Reporter&);               // idle.cpp
void vis_nest(Session&, Reporter&);           // vis_nest.cpp
void vis_kernels(Session&, Reporter&);        // vis_kernels.cpp
void vis_pieces(Session&, Reporter&);         // vis_wire.cpp
void vis_gather(Session&, Reporter&);         // vis_wire.cpp
void vis_near(Session&, Reporter&);           // vis_wire.cpp
void vis_plans(Session&, Reporter&);          // vis_plans.cpp
void calibrate_network(Session&, Reporter&);  // calibrate.cpp
void matrix_vector(Session&, Reporter&);      // matrix_vector.cpp
void tree_building(Session&, Reporter&);      // tree_building.cpp
/// What --size says unless it is given: rows, and bodies.
inline constexpr std::size_t kMatrixRows = 2048;
inline constexpr std::size_t kTreeBodies = std::size_t{256} * 1024;
/// All coll-… benchmarks: the name says which operation.
void collective(Session&, Reporter&);  // coll.cpp

}  // namespace aqueduct::perf
