#pragma once

#include <aqueduct/rank_list.hpp>

#include "team/rank_map.hpp"

#include <vector>

namespace aqueduct::detail {

/// What the copies of a RankList share.
struct RankListState {
  team::RankMap ranks;
};

}  // namespace aqueduct::detail

namespace aqueduct::team {

/// A list of these ranks. May throw std::bad_alloc.
RankList list_of(RankMap ranks);
/// The ranks of a list, for callers that need them in a row. May throw std::bad_alloc.
std::vector<Rank> ranks_in(const RankList& list);

}  // namespace aqueduct::team
