#include "coll/schedule/groups_pass.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

Step pass_signal(Rank peer, Counter counter) noexcept {
  Step step;
  step.kind = Step::Kind::signal;
  step.peer = peer;
  step.raise = counter;
  return step;
}
Step pass_when(Step step, Counter counter, std::uint32_t value) noexcept {
  step.wait_for = counter;
  step.wait_until = value;
  return step;
}

}  // namespace

// A leader: its signals to other leaders; a release for each of its members, or a step that only waits.
std::uint32_t GroupsPass::length(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  if (position != leader_of(group)) return 2;
  return leaders_.hops() + std::max<Rank>(groups_.size(group) - 1, 1);
}

Step GroupsPass::step(Rank position, std::uint32_t index) const noexcept {
  const Rank group = groups_.group_of(position);
  const Rank leader = leader_of(group);
  if (position == leader) return leaders_step(group, index);
  return index == 0 ? pass_signal(leader, reports()) : pass_when({}, release(), 1);
}

Step GroupsPass::leaders_step(Rank group, std::uint32_t index) const noexcept {
  const Rank others = groups_.size(group) - 1;
  if (index < leaders_.hops()) {
    const Dissemination::Hop hop = leaders_.hop(index);
    const Step step = pass_signal(leader_of(leaders_.peer(group, hop)), arrived(hop.round));
    if (hop.number > 0) return step;
    if (hop.round > 0) return pass_when(step, arrived(hop.round - 1), leaders_.arrivals(hop.round - 1));
    return others > 0 ? pass_when(step, reports(), others) : step;
  }
  index -= leaders_.hops();
  Step step;
  if (others > 0) step = pass_signal(groups_.mate_of(leader_of(group), index), release());
  const std::uint32_t last = leaders_.rounds() - 1;
  return index == 0 ? pass_when(step, arrived(last), leaders_.arrivals(last)) : step;
}

std::uint64_t GroupsPass::messages() const noexcept {
  const std::uint64_t on_hosts = groups_.ranks() - groups_.count();
  return 2 * on_hosts + std::uint64_t{leaders_.hops()} * groups_.count();
}

}  // namespace aqueduct::coll
