#pragma once

#include "coll/model/loggp.hpp"
#include "coll/model/narrow_links.hpp"
#include "coll/tune/chooser.hpp"
#include "coll/tune/fit.hpp"
#include "coll/tune/tuning_table.hpp"

#include <cstdint>
#include <optional>

namespace aqueduct::coll {

/// What messages of this size cost between the members of a team, according to the table. Empty: the table has no model for
/// them.
std::optional<Machine> machine_for(const TuningTable& table, const TeamTraits& team, std::uint64_t bytes);

/// How long an operation takes, as far as its numbers of messages and bytes say: quickly computed, and rough. In
/// picoseconds, whole numbers only.
std::uint64_t rough_time(const Algorithm& algorithm, const Fit& how, const Machine& machine) noexcept;

/// Whether an algorithm of the program lists a step that cannot be, for any member. Such a step does nothing, and would make the
/// algorithm look fast.
bool has_wrong_steps(const Algorithm& algorithm, const Fit& how);

/// How long it takes by a replay of its schedule. Of several pieces the first two are replayed; each further one takes as
/// much longer as the second. Empty: it cannot be replayed. `messages`: how many were, as a measure of the work. `links`: those
/// that messages share; null: none.
std::optional<std::uint64_t> replayed_time(const Algorithm& algorithm, const Fit& how, const Machine& machine,
                                           std::uint64_t& messages, Links* links = nullptr);
/// The same to the picosecond, or with `links` an estimate, by following one member, where all members do the same. Empty: they do
/// not, or it is done in several pieces, or ranks share hosts.
std::optional<std::uint64_t> followed_time(const Algorithm& algorithm, const Fit& how, const Machine& machine,
                                           NarrowLinks* links = nullptr);

/// The length of its messages, on average.
std::uint64_t usual_message(const Algorithm& algorithm, const Fit& how) noexcept;
/// How many messages a replay of it follows.
std::uint64_t replayed_messages(const Algorithm& algorithm, const Fit& how) noexcept;
/// As many messages of a replay take as long as following one member. 0: members are not known to do the same.
std::uint64_t followed_messages(const Algorithm& algorithm, const Fit& how) noexcept;

}  // namespace aqueduct::coll
