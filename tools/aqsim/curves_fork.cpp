// The tree that follows the links of a torus, beside trees that do not; and trees of reductions.

#include "coll/algorithms/algorithms.hpp"
#include "sim/network.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace aqueduct::aqsim {

namespace {

constexpr Rank kOnTorus = 512;

// The source has no figures of its BlueGene/P's links: 425 MB/s and 50 ns a hop, as published for that machine.
constexpr const char* kTorus = R"({"version": 1,
  "levels": [{"latency_us": 1.5, "overhead_us": 0.4, "gap_us": 0.2, "ns_per_byte": 2.35}],
  "topology": {"kind": "torus", "sizes": [8, 8, 8]}, "ranks_per_host": 1,
  "link": {"hop_us": 0.05, "gap_us": 0, "ns_per_byte": 2.35}})";

double on_torus(const coll::Algorithm& algorithm, std::uint32_t radix, std::uint64_t bytes,
                std::uint32_t segments) {
  static const sim::Network network = sim::parse_network(kTorus, "torus of 8 x 8 x 8", kOnTorus);
  sim::Job job;
  job.algorithm = &algorithm;
  job.shape = shape_for(algorithm, radix, {.ranks = kOnTorus, .bytes = bytes});
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    if (algorithm.parameters[i].name == "segments") job.shape.parameters[i] = segments;
  }
  return static_cast<double>(sim::simulate(job, network).replayed.time) / 1e6;
}

/// How much longer the fork tree takes than the best other tree, all with the best number of segments.
double fork_behind(std::uint64_t bytes) {
  double fork = 1e300;
  double best = 1e300;
  for (const std::uint32_t segments : {1U, 2U, 4U, 8U}) {
    fork = std::min(fork, on_torus(coll::kBroadcastFork, 0, bytes, segments));
    for (const std::uint32_t radix : {2U, 4U, 8U}) {
      best = std::min(best, on_torus(coll::kBroadcastKAry, radix, bytes, segments));
      best = std::min(best, on_torus(coll::kBroadcastKNomial, radix, bytes, segments));
    }
  }
  return fork / best;
}

Finding fork() {
  const double small = fork_behind(8);
  const double large = fork_behind(262144);
  return {
      "R-08",
      "broadcast, torus of 8 x 8 x 8: the fork tree behind the best k-ary or k-nomial tree, 8 B and 256 KiB",
      "never best; better once bandwidth counts",
      fmt::format("{} behind, {} behind", percent(small), percent(large)),
      small > 1 && large > 1 && large < small,
      ""};
}

Finding reduce_trees() {
  double most = 0;
  for (const std::uint64_t bytes : {4U, 64U, 1024U}) {
    const Setup of_sun{.ranks = 1024, .bytes = bytes};
    most = std::max(most,
                    best_radix(coll::kReduceKAry, of_sun).us / best_radix(coll::kReduceKNomial, of_sun).us);
  }
  const Setup of_cray{.ranks = 2048, .bytes = 4, .link = cray(), .sync = coll::Sync::all};
  const double strict =
      best_radix(coll::kReduceKAry, of_cray).us / best_radix(coll::kReduceKNomial, of_cray).us;
  return {"R-19",
          "reduce: the best k-nomial tree before the best k-ary",
          "at most 11 % (Sun); > 20 % for 4 B, strict (XT4)",
          fmt::format("up to {} (g = 4 o); {} (g = o), strict", percent(most), percent(strict)),
          most < 1.11 && strict > 1.2,
          "The gain grows with g / o, as that of broadcasts does (R-07); strict calls add two passes that "
          "are the same for "
          "both trees, but without them it is 3 %. What else the XT4 had, the model does not have"};
}

}  // namespace

std::vector<Finding> fork_curves() { return {fork(), reduce_trees()}; }

}  // namespace aqueduct::aqsim
