#include "tools/aqsim/team.hpp"

namespace aqueduct::aqsim {

SimulatedTeam::SimulatedTeam(const coll::Machine& machine, Rank ranks,
                             const std::optional<coll::TreeRecipe>& tree)
    : traits_{.ranks = ranks, .one_host = machine.hosts(ranks) == 1, .mapped = false} {
  Rank most = traits_.one_host ? ranks : 1;  // on one host
  if (!traits_.one_host && machine.host > 1) {
    groups_.emplace(ranks, [&](Rank rank) { return machine.host_of(rank); });
    most = groups_->most();
    if (groups_->are_of_use()) traits_.groups = &*groups_;
  }
  if (tree && tree->refusal(ranks).empty()) {
    // Without groups of hosts each rank has a host of its own, or all have one.
    if (!groups_ && !traits_.one_host) groups_.emplace(ranks, [](Rank rank) { return rank; });
    tree_.emplace(tree->tree(ranks, groups_ ? &*groups_ : nullptr));
    traits_.tree = &*tree_;
  }
  if (traits_.groups == nullptr) groups_.reset();
  traits_.crowded = machine.cores != 0 && most > machine.cores;
}

}  // namespace aqueduct::aqsim
