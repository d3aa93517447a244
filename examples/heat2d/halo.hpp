#pragma once

#include <aqueduct/aqueduct.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heat2d {

/// The rows just outside my block, which the ranks above and below write into my segment.
///
/// One step of the computation is: send(step, …), compute all cells that need no halo, wait(step), compute the
/// others. Each side has two halo rows, used in turn, and a signal counter of the rows that have arrived.
///
/// Why two rows are enough, without any acknowledgement: my neighbour sends its row of step s + 2, which overwrites
/// that of step s, after it has computed step s + 1. For that it needs my row of step s + 1, which I send only when I
/// have finished step s. So the neighbour is at most one step ahead. One halo row would not be enough: the neighbour
/// sends step s + 1 when it knows that I have *sent* step s, not that I have read its own row of step s.
///
/// Why a counter is enough: two puts may overtake each other, so wait() also waits for my own
/// puts of this step before send() begins the next. A count of s + 1 then means that steps 0 to
/// s have arrived, and not step s + 1 alone.
class Halo {
 public:
  /// Collective.
  Halo(aqueduct::Endpoint& ep, std::size_t columns);

  /// Begins to send the first and last row of my block, which must not change until wait(step).
  void send(std::uint64_t step, std::span<const float> first_row, std::span<const float> last_row);
  /// Waits until both halo rows of this step have arrived, and until my own have been delivered.
  void wait(std::uint64_t step);

  /// The halo row of this step; none at the edge of the plate.
  std::optional<std::span<const float>> above(std::uint64_t step) const { return row(kAbove, step); }
  std::optional<std::span<const float>> below(std::uint64_t step) const { return row(kBelow, step); }

 private:
  // The value is also the number of the side's signal counter.
  enum Side : aqueduct::SignalSlot { kAbove = 0, kBelow = 1 };

  std::size_t offset(Side side, std::uint64_t step) const { return (2 * side + step % 2) * columns_; }
  std::optional<std::span<const float>> row(Side side, std::uint64_t step) const;

  aqueduct::Endpoint& ep_;
  std::size_t columns_;
  aqueduct::SegmentOf<float> segment_;                      // [side][step % 2][column]
  std::array<std::optional<aqueduct::Rank>, 2> neighbour_;  // the rank on that side
  std::array<aqueduct::Event, 2> sent_;                     // my put to that side
};

}  // namespace heat2d
