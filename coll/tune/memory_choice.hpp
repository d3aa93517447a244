#pragma once

#include "coll/model/memory_forms.hpp"
#include "coll/schedule/algorithm.hpp"
#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <optional>

namespace aqueduct::topology {
class Placement;
}

namespace aqueduct::coll {

/// The domains in which members are, which name their placement. Requires: there are some.
MemoryDomains memory_domains(const topology::Placement& placement) noexcept;
MemoryDomains memory_domains(topology::Placement&&) = delete;
/// The most edges between a member and the root of a tree that keeps to domains: at each level it is one of the domains' first members.
std::uint32_t levels_by_domains(const MemoryDomains& domains, std::uint32_t radix) noexcept;

/// The costs by which algorithms of a board are chosen for a team in several domains of memory: those of the made-up machine of two
/// domains, or of four if there are more (memory_forms.hpp). They are constants, so all members take the same ones; those of a profile
/// only its reader knows (docs/decisions/0143).
MemoryMachine assumed_machine(const MemoryDomains& domains) noexcept;

/// Femtoseconds that the closed forms give for the bytes of a shape alone, without what its sync modes add: what the source compares.
/// `radix`: of a tree. Nothing: there is no form.
std::optional<std::uint64_t> time_of_bytes(BoardMethod method, const Shape& shape,
                                           const MemoryMachine& machine, std::uint32_t radix = 2) noexcept;

/// The same of a call whose payloads are on the board: with the movements of its sync modes. In one that needs all others, where
/// all read all, these are most of it.
std::optional<std::uint64_t> time_of_short_call(BoardMethod method, const Shape& shape,
                                                const MemoryMachine& machine,
                                                std::uint32_t radix = 2) noexcept;

/// The lines of a block from which on a reduction goes by tiles, and below them by a tree (HF-13). Where the forms say that tiles
/// never gain, they are taken from 16 KiB on: a tree here copies through slots, which the forms leave out.
std::uint64_t least_lines_of_tiles(const MemoryMachine& machine) noexcept;

}  // namespace aqueduct::coll
