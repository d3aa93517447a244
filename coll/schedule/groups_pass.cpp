#include "coll/schedule/groups_pass.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

Step signal(Rank peer, Counter counter) noexcept {
  Step step;
  step.kind = Step::Kind::signal;
  step.peer = peer;
  step.raise = counter;
  return step;
}
Step when(Step step, Counter counter, std::uint32_t value) noexcept {
  step.wait_for = counter;
  step.wait_until = value;
  return step;
}

}  // namespace

// A leader: its signals to other leaders; a release for each of its members, or a step that only waits.
std::uint32_t GroupsPass::length(Rank position) const noexcept {
  const Rank group = groups_.group_of(position);
  if (position != groups_.leader_of(group)) return 2;
  return leaders_.hops() + std::max<Rank>(groups_.size(group) - 1, 1);
}

Step GroupsPass::step(Rank position, std::uint32_t index) const noexcept {
  const Rank group = groups_.group_of(position);
  const Rank leader = groups_.leader_of(group);
  if (position == leader) return leaders_step(group, index);
  return index == 0 ? signal(leader, reports()) : when({}, release(), 1);
}

Step GroupsPass::leaders_step(Rank group, std::uint32_t index) const noexcept {
  const Rank others = groups_.size(group) - 1;
  if (index < leaders_.hops()) {
    const Dissemination::Hop hop = leaders_.hop(index);
    const Step step = signal(groups_.leader_of(leaders_.peer(group, hop)), arrived(hop.round));
    if (hop.number > 0) return step;
    if (hop.round > 0) return when(step, arrived(hop.round - 1), leaders_.arrivals(hop.round - 1));
    return others > 0 ? when(step, reports(), others) : step;
  }
  index -= leaders_.hops();
  Step step;
  if (others > 0) step = signal(groups_.member_at(groups_.begin(group) + 1 + index), release());
  const std::uint32_t last = leaders_.rounds() - 1;
  return index == 0 ? when(step, arrived(last), leaders_.arrivals(last)) : step;
}

std::uint64_t GroupsPass::messages() const noexcept {
  const std::uint64_t on_hosts = groups_.ranks() - groups_.count();
  return 2 * on_hosts + std::uint64_t{leaders_.hops()} * groups_.count();
}

}  // namespace aqueduct::coll
