#pragma once

#include <aqueduct/status.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// Times in nanoseconds: [repetition], of one candidate. What the slowest member took, the same on all members.
using Samples = std::vector<std::uint64_t>;

/// Measures each candidate in `who` `times` times, in turns. Returns the samples of each, in the order of `who`.
using Measure =
    std::function<Result<std::vector<Samples>>(std::span<const std::size_t> who, std::uint32_t times)>;

/// What a search has found.
struct Found {
  std::size_t best = 0;
  std::size_t runner_up = 0;  ///< as `best`: there is none
  std::uint64_t best_time = 0;
  std::uint64_t runner_up_time = 0;
  std::uint32_t samples = 0;  ///< of the best one
  bool decided =
      false;  ///< the best one has won more often than chance explains, or the runner-up is level at best
};

/// A candidate is measured so often at the most.
constexpr std::uint32_t kMostRepetitions = 40;

/// A race: all candidates are measured in turns, so that what disturbs the machine for a while disturbs all of them. After 2, 3,
/// 5, 7, 10, 14, 20, 28 and 40 repetitions those are dropped that have no prospects:
/// - at first, those of which all times are longer than all of the fastest one's, by a quarter, later a tenth;
/// - from 5 repetitions on, those that are unlikely to be 5 % faster than the fastest one, by the spread of their times: the
///   last of them only when that is next to certain.
/// Without noise the race ends after 5 repetitions. The best four always get 3 repetitions, the best two 5. The statistic is the
/// median.
///
/// A pure function of what `measure` returns, so members that get equal samples find the same.
/// Requires: at least one candidate. Errors: those of `measure`.
Result<Found> search(std::size_t candidates, std::chrono::nanoseconds time, const Measure& measure);

std::uint64_t median_of(Samples samples) noexcept;
/// Whether the first won so often against the second that it is unlikely to be chance: by half of them
/// and their square root. Requires: as many samples of both.
bool is_faster(const Samples& first, const Samples& second) noexcept;

}  // namespace aqueduct::coll
