// A team gets a tree of its own after it was made: that of the program.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <utility>

namespace aqueduct::coll {

TeamEngine::NewTree TeamEngine::make_tree(const TreeRecipe* recipe) const {
  NewTree made;
  if (recipe != nullptr) {
    // `groups_` is kept only where schedules go by hosts.
    std::optional<Groups> hosts;
    if (!traits_.one_host)
      hosts.emplace(ranks_, [&](Rank position) { return state_.host_of[team_.members[position]]; });
    made.tree = std::make_unique<TeamTree>(recipe->tree(ranks_, hosts ? &*hosts : nullptr));
  }
  if (scratch_ && scratch_->layout().clears())
    made.senders = layer_.senders().of_team(ranks_, traits_.groups, made.tree.get());
  return made;
}

void TeamEngine::use_tree(NewTree made) noexcept {
  forget_choices();
  tree_ = std::move(made.tree);
  traits_.tree = tree_.get();
  if (made.senders != nullptr) scratch_->use_senders(std::move(made.senders));
}

}  // namespace aqueduct::coll
