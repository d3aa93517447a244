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
  std::uint32_t samples = 0;
  bool decided = false;
};

/// Successive halving: all candidates a few times, the better half more often, the best two most often. In turns, so that
/// what disturbs the machine for a while disturbs all of them. Candidates that are four times slower than the best one are
/// dropped after the first look, but for the best four. The statistic is the median.
///
/// A pure function of what `measure` returns, so members that get equal samples find the same.
/// Requires: at least one candidate. Errors: those of `measure`.
Result<Found> search(std::size_t candidates, std::chrono::nanoseconds time, const Measure& measure);

std::uint64_t median_of(Samples samples) noexcept;
/// Whether the first won so often against the second that it is unlikely to be chance: by half of them
/// and their square root. Requires: as many samples of both.
bool is_faster(const Samples& first, const Samples& second) noexcept;

}  // namespace aqueduct::coll
