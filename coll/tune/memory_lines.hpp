#pragma once

#include <aqueduct/network_model.hpp>

#include "coll/model/memory_forms.hpp"
#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// A team's domains of memory, with what accesses to `bytes` bytes cost inside them and across, as far as puts tell. How much members
/// that share a link hinder each other was not measured: all of them together count to be as fast as one.
MemoryMachine memory_machine(const MemoryDomains& domains, const NetworkModel& inside,
                             const NetworkModel& across, std::uint64_t bytes) noexcept;

/// What the closed forms say of the board's algorithms that can do a shape on the team: a line of text for `explain`. Empty: there
/// is no form. `costs`: where these come from, "levels cache and host".
std::string memory_lines(const Shape& shape, const MemoryMachine& machine, const TeamTraits& team,
                         std::string_view costs);

/// What the library compares for a team in several domains of memory (guesses_of): a line of text for `explain`. Empty: nothing.
std::string guess_lines(const Shape& shape, const TeamTraits& team);

/// What a short all-gather by domains moves: a line of text for `explain`. `first`: [domain] as BoardDomains::first.
std::string packed_lines(const Shape& shape, std::span<const std::uint32_t> first);

}  // namespace aqueduct::coll
