#pragma once

#include "coll/tune/predict.hpp"
#include "coll/tune/ranking.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::coll {

/// A replay, if it follows no more messages than `left`, from which they are taken: of one member where all do the same, else of
/// all. `links`: those that messages share; null: none.
std::optional<std::uint64_t> time_within(std::uint64_t& left, const Algorithm& algorithm, const Fit& how,
                                         const Machine& machine, NarrowLinks* links);

/// Whether messages of the team may share links of which its model says nothing: it is on more hosts than one switch has, and
/// costs were measured, or guessed, for two ranks.
bool may_be_narrow(const TuningTable& table, const TeamTraits& team) noexcept;

/// Puts first what is fast on both of two networks: that of the model, whose links nobody shares, and one in which far hosts share
/// them (coll/model/narrow_links.hpp). `ranked` is in the order of the first, and what is hopeless there stays behind.
/// A pure function of its arguments, in whole numbers. May throw std::bad_alloc.
/// Why: docs/decisions/0155-links-may-be-shared.md.
void rank_for_narrow_links(std::vector<Ranked>& ranked, const Shape& shape, const TuningTable& table,
                           const TeamTraits& team, const ScratchLayout& scratch, const RankingLimits& limits);

}  // namespace aqueduct::coll
