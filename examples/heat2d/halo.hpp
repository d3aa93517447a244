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
/// One step of the computation is: send(step, …), whatever needs no halo, wait(step), what needs one. Each side
/// has two halo rows, used in turn, and a signal counter that says how many have arrived.
///
/// Why two are enough, without any acknowledgement: my neighbour sends the row of step s + 2 (which lands where
/// that of step s was) once it has computed step s + 1, which takes my row of step s + 1, and that I send only
/// when I have done with step s. So it is at most one step ahead. One halo row would not do: it sends step
/// s + 1 knowing only that I have *sent* step s, not that I have read its own row of step s.
///
/// Why counting works: two puts may overtake each other, so wait() also sees my own puts of this step complete
/// before send() begins the next. The count s + 1 then means that steps 0 to s are here, and not s + 1 alone.
class Halo {
 public:
  /// Collective.
  Halo(aqueduct::Endpoint& ep, std::size_t columns);

  /// Begins to send the first and last row of my block, which stay unchanged until wait(step).
  void send(std::uint64_t step, std::span<const float> first_row, std::span<const float> last_row);
  /// Waits until both halo rows of this step are here, and until my own have been delivered.
  void wait(std::uint64_t step);

  /// The halo row of this step; none at the edge of the plate.
  std::optional<std::span<const float>> above(std::uint64_t step) const { return row(kAbove, step); }
  std::optional<std::span<const float>> below(std::uint64_t step) const { return row(kBelow, step); }

 private:
  // A side is also the number of its signal counter.
  enum Side : aqueduct::SignalSlot { kAbove = 0, kBelow = 1 };

  std::size_t offset(Side side, std::uint64_t step) const { return (2 * side + step % 2) * columns_; }
  std::optional<std::span<const float>> row(Side side, std::uint64_t step) const;

  aqueduct::Endpoint& ep_;
  std::size_t columns_;
  aqueduct::Segment segment_;                               // [side][step % 2][column]
  std::array<std::optional<aqueduct::Rank>, 2> neighbour_;  // who is on that side
  std::array<aqueduct::Event, 2> sent_;                     // my put to that side
};

}  // namespace heat2d
