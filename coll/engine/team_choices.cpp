#include "coll/engine/team_choices.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/tune/table.hpp"

#include <memory>
#include <new>

namespace aqueduct::coll {

namespace {

/// The length of the groups of members, one after the other, that share a host; 1: they are not all of one length. The last
/// one may be shorter.
Rank block_of(const EndpointState& state, const TeamState& team) noexcept {
  const auto host = [&](Rank i) { return state.host_of[team.members[i]]; };
  Rank block = 1;
  while (block < team.size() && host(block) == host(0)) ++block;
  for (Rank i = 0; i < team.size(); ++i) {
    if (host(i) != host(i / block * block)) return 1;
    if (i % block == 0 && i != 0 && host(i) == host(i - 1)) return 1;
  }
  return block;
}

/// Only of facts that are equal on all members: what they choose by these must be the same.
TeamTraits traits_of(const EndpointState& state, const TeamState& team) noexcept {
  TeamTraits traits{.ranks = team.size(), .most_transfer = state.least_transfer};
  for (Rank i = 0; i < team.size(); ++i) {
    if (state.host_of[team.members[i]] != state.host_of[team.members[0]]) traits.one_host = false;
  }
  traits.block = traits.one_host ? team.size() : block_of(state, team);
  traits.mapped = traits.one_host && state.near_serves_host;
  traits.sockets = !traits.mapped && state.through_sockets;
  for (Rank i = 0; i < team.size() && !state.crowded.empty(); ++i)
    traits.crowded = traits.crowded || state.crowded[team.members[i]];
  return traits;
}

}  // namespace

TeamChoices::TeamChoices(Collectives& all, TeamState& team)
    : layer_(all),
      state_(team.endpoint),
      team_(team),
      id_(team.id),
      ranks_(team.size()),
      position_(team.index),
      traits_(traits_of(team.endpoint, team)),
      chooser_(all.rules(), all.tuning(), &all.choices()) {
  traits_.added = team.endpoint.config.added_algorithms();
  if (!traits_.one_host) {
    groups_ = std::make_unique<Groups>(ranks_,
                                       [&](Rank position) { return state_.host_of[team.members[position]]; });
    if (groups_->are_of_use()) traits_.groups = groups_.get();
  }
  if (const auto& recipe = all.tree_recipe(); recipe && recipe->refusal(ranks_).empty()) {
    tree_ = std::make_unique<TeamTree>(recipe->tree(ranks_, groups_.get()));
    traits_.tree = tree_.get();
  }
  if (traits_.groups == nullptr) groups_.reset();
  if (state_.config.flag("coll_learn") && ranks_ > 1) learning_ = std::make_unique<Learning>();
}

TeamChoices::~TeamChoices() = default;

void TeamChoices::choose_tuning(bool all_alike) noexcept {
  if (all_alike) return;
  state_.log.warn(
      "a team of {} ranks: its members have different tuning tables, so the rules choose its algorithms: "
      "this is a mistake of the library, please report it",
      ranks_);
  chooser_.have_table(layer_.no_tuning());
}

bool TeamChoices::is_forced(Collective operation) const noexcept {
  if (operation == Collective::barrier)
    return layout_ && layer_.rules().is_barrier_set(traits_of_barriers(), *layout_);
  return layer_.rules().is_forced(operation);
}

Choice TeamChoices::choice(const Shape& shape) const noexcept try {
  if (ranks_ == 1 || !layout_) return {};
  if (shape.operation == Collective::barrier) return choice_of_barriers();
  if (shape.operation >= Collective::permute) return choice_of_comparing();
  return chooser_.would_choose(shape, traits_for(shape), *layout_);
} catch (const std::bad_alloc&) {
  return {};
}

/// By the setting for barriers, what was measured, the model or the rules. No algorithm: this member has no memory to choose.
Choice TeamChoices::choice_of_barriers() const noexcept {
  return chooser_.choose_barrier(traits_of_barriers(), *layout_);
}

/// By the rules alone, whatever is set or was measured.
Choice TeamChoices::usual_choice_of_barriers() const noexcept {
  const TableChooser rules;
  Choice choice = rules.choose_barrier(traits_of_barriers(), *layout_);
  choice.why = {};  // it lives as long as the rules
  return choice;
}

const core::Properties& TeamChoices::farthest_conduit() const noexcept {
  Rank other = 1;
  for (Rank i = 1; i < ranks_ && kind() == TeamKind::network; ++i) {
    if (state_.host_of[team_.members[i]] != state_.host_of[state_.rank]) other = i;
  }
  return state_.conduit(team_.members[other]).properties();
}

TuningPlace TeamChoices::tuning_place() const {
  const core::Properties& conduit = farthest_conduit();
  return {machine_kind(), conduit.name, conduit.network};
}

}  // namespace aqueduct::coll
