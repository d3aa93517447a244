#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/tune/chooser.hpp"

#include <array>
#include <cstdint>

namespace aqueduct::coll {

/// Values for an algorithm's parameters, in its order. 0: the usual one, or of `segments`, one that goes with the bytes.
using WantedParameters = std::array<std::uint32_t, 3>;

/// How an algorithm does a shape with a team's scratch.
struct Fit {
  const char* refusal = nullptr;  ///< why it does not; null if it does
  Shape shape;                    ///< with parameters, and the bytes of the whole operation
  std::uint64_t piece = 0;        ///< as Choice::piece
};

/// The whole block in one if it fits; else the largest piece that fits twice, so that a piece begins while the one before
/// is under way; else the largest that fits at all. All operations are done element by element, so each can be cut.
Fit fit(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
        const TeamTraits& team, const ScratchLayout& scratch) noexcept;

/// Whether members that lend buffers give a flag to each peer that uses one. If not, an algorithm behind a barrier
/// (Algorithm::behind_barrier) does what it would do without.
constexpr bool asks_for_flags(const Shape& shape) noexcept {
  return shape.in == Sync::mine && shape.addresses == Addresses::single;
}

/// What a portion of scratch must hold: the engine puts `temp` behind the scratch of the operation.
Needs portion_of(const Algorithm& algorithm, const Shape& shape) noexcept;

/// The shape of one piece of this many bytes.
Shape piece_of(const Shape& shape, std::uint64_t bytes) noexcept;

}  // namespace aqueduct::coll
