#pragma once

#include "coll/tune/chooser.hpp"
#include "coll/tune/fit.hpp"
#include "core/conduit.hpp"

#include <cstdint>
#include <string>

namespace aqueduct::coll {

// The team's conduit among the library's own algorithms: whether it does a shape, and whether it is expected to be faster.

/// A shape as a conduit is asked for it.
core::NativeShape native_shape_of(const Shape& shape) noexcept;

/// Whether the team's conduit does the operation, in one piece. Operations without bytes need no conduit.
/// Requires: algorithm.native.
Fit fit_native(const Algorithm& algorithm, const Shape& shape, const TeamTraits& team,
               const ScratchLayout& scratch) noexcept;

/// The number of pieces in which the operation runs.
std::uint64_t number_of_pieces(const Choice& choice) noexcept;
/// What all pieces send. Two pieces overlap, so `depth` is that of one.
Cost cost_of(const Choice& choice) noexcept;

/// How long a choice is expected to take, in nanoseconds: an algorithm of the library by what it sends and the pace of the
/// conduit's messages, the conduit's own by its estimate and the passes around it. Whole numbers, so that all members get
/// the same. Requires: team.native is not null.
///
/// An algorithm in which one member sends most of the bytes takes longer than this says: so a conduit that is chosen is faster.
std::uint64_t expected_time(const Choice& choice, const TeamTraits& team) noexcept;

/// The better one of what the table has chosen and the team's conduit.
Choice better_of_table_and_native(const Choice& table, const Shape& shape, const TeamTraits& team,
                                  const ScratchLayout& scratch) noexcept;

/// For `explain`, of a team whose conduit carries out the operation.
std::string native_lines(const Choice& choice, const TeamTraits& team);
/// For `explain`: why the conduit does not carry it out. Empty: there is no such operation of conduits. `forced`: a setting
/// asks for the choice.
std::string why_not_native(const Choice& choice, const Shape& shape, const TeamTraits& team,
                           const ScratchLayout& scratch, bool forced);

}  // namespace aqueduct::coll
