#pragma once

#include "coll/schedule/dissemination.hpp"

namespace aqueduct::aqcheck {

/// In a dissemination, among members or among hosts, `number` sends its first signal of a round before it has what it waits for
/// there: in round 0 that the members of its host have called, later the signals of the round before. Returns whether all numbers learn that all
/// have called nevertheless. So it is with radix 3 and more, if a second way leads to where the early signal goes.
bool early_signal_is_harmless(const coll::Dissemination& among, Rank number, std::uint32_t round);

}  // namespace aqueduct::aqcheck
