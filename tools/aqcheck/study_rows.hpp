#pragma once

#include "tools/aqcheck/study.hpp"

#include <span>

namespace aqueduct::aqcheck {

// The rows of the study, each beside its formula in the file that has its operations.

std::span<const StudyEntry> rows_of_broadcasts() noexcept;  ///< and barriers
std::span<const StudyEntry>
rows_of_blocks() noexcept;  ///< whatever moves a block of each member, and permute
std::span<const StudyEntry> rows_of_reductions() noexcept;  ///< and scans
std::span<const StudyEntry> rows_of_hosts() noexcept;       ///< schedules that go by hosts, of all operations
std::span<const StudyEntry>
rows_of_team_trees() noexcept;  ///< schedules on the tree of a team, of all operations

/// Adds a pass of Sync::all by hosts. `on_tree`: from the root or to it.
void add_pass_by_hosts(Studied& to, const coll::Shape& shape, bool on_tree);

}  // namespace aqueduct::aqcheck
