// The team's members in the domains of memory of their host.

#include "coll/engine/team_engine.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/memory_lines.hpp"
#include "topology/host_topology.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace aqueduct::coll {

namespace {

/// Whether the members may be in several domains: they were bound, and not all to the same processors.
bool may_be_apart(const EndpointState& state, const TeamState& team) {
  const auto cpus = [&](Rank member) {
    const auto found = std::ranges::lower_bound(state.neighbours, team.members[member]);
    const auto index = static_cast<std::size_t>(found - state.neighbours.begin());
    return index < state.cpus_of.size() ? std::string_view(state.cpus_of[index]) : std::string_view();
  };
  for (Rank i = 1; i < team.size(); ++i) {
    if (cpus(i) != cpus(0)) return true;
  }
  return false;
}

MemoryDomains domains_in(const topology::Placement& placement) {
  const topology::Placement::Cut& cut = placement.cuts().back();
  MemoryDomains out{.count = cut.groups(), .smallest = cut.size(0), .largest = cut.size(0)};
  for (std::uint32_t i = 1; i < cut.groups(); ++i) {
    out.smallest = std::min(out.smallest, cut.size(i));
    out.largest = std::max(out.largest, cut.size(i));
  }
  out.in_team_order = placement.is_in_order();
  return out;
}

}  // namespace

/// Where the members are; null: in one domain, as far as is known. The same on all members. The first call may read the topology
/// of the host, for all its ranks. Throws std::bad_alloc.
const topology::Placement* TeamEngine::placement() const {
  if (!knows_placement_) {
    auto& topology = *state_.layer<topology::HostTopology>();
    // Ranks that share processors run one after the other, wherever they are.
    const bool matters = traits_.board.slots != 0 && ranks_ > 2 &&
                         (topology.source().pretends() || (!traits_.crowded && may_be_apart(state_, team_)));
    if (matters) {
      std::vector<Rank> members(ranks_);
      std::iota(members.begin(), members.end(), Rank{0});
      placement_ = std::make_unique<topology::Placement>(
          topology.place(members, [this](Rank member) { return team_.members[member]; }));
    }
    knows_placement_ = true;
  }
  return placement_ != nullptr && !placement_->cuts().empty() ? placement_.get() : nullptr;
}

/// By what the algorithm of a shape is chosen. Always by this, so that the choice does not depend on what a member has asked
/// before. Throws std::bad_alloc.
TeamTraits TeamEngine::traits_for(const Shape& shape) const {
  TeamTraits traits = traits_;
  if (!depends_on_domains(shape, traits)) return traits;
  if (const topology::Placement* const found = placement()) traits.domains = domains_in(*found);
  return traits;
}

/// What the model of memory says of a shape, for `explain`. Empty: the members are in one domain, or the profile has not measured
/// ranks that share a last cache and ranks that do not.
std::string TeamEngine::explain_memory(const Shape& shape, const TeamTraits& traits) const {
  if (traits.domains.count < 2) return {};
  const Rank other = team_.members[position_ == 0 ? 1 : 0];
  static_cast<void>(core::network_model_of(state_, other));  // reads the profile, if it was not asked for yet
  const auto found = state_.profiles.find(state_.conduit(other).properties().name);
  if (found == state_.profiles.end()) return {};
  const NetworkModel* const inside = found->second.find("cache");
  const NetworkModel* const across = found->second.between(true);
  if (inside == nullptr || across == inside) return {};
  return memory_lines(shape, memory_machine(traits.domains, *inside, *across, shape.bytes), traits);
}

}  // namespace aqueduct::coll
