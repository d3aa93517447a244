// The team's members in the domains of memory of their host.

#include "coll/engine/team_choices.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/memory_choice.hpp"
#include "coll/tune/memory_lines.hpp"
#include "topology/closeness.hpp"
#include "topology/host_topology.hpp"

#include <fmt/format.h>

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

}  // namespace

/// Where the members are; null: in one domain, as far as is known. The same on all members. The first call may read the topology
/// of the host, for all its ranks. Throws std::bad_alloc.
const topology::Placement* TeamChoices::placement() const {
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
TeamTraits TeamChoices::traits_for(const Shape& shape) const {
  TeamTraits traits = traits_;
  if (!depends_on_domains(shape, traits)) return traits;
  if (const topology::Placement* const found = placement()) traits.domains = memory_domains(*found);
  return traits;
}

void TeamChoices::tell_place(const TeamOffer& mine) const {
  auto& topology = *state_.layer<topology::HostTopology>();
  if (!topology.source().pretends()) return;
  const std::vector<topology::Level>& levels = topology.table().levels();
  const auto narrowest =
      std::find_if(levels.rbegin(), levels.rend(), [](const auto& one) { return one.memory; });
  if (narrowest == levels.rend()) return;
  const std::uint32_t domain =
      topology.domain_of(state_.rank, static_cast<std::size_t>(levels.rend() - narrowest) - 1);
  if (domain == topology::kNowhere) return;
  state_.log.debug(
      "team {}: rank {}'s board and scratch, {} bytes at {} of its hidden memory, belong to {} {}", id_,
      state_.rank, mine.bytes, mine.offset, narrowest->name, domain);
}

/// How what is chosen runs on the board. Throws std::bad_alloc.
OnBoard TeamChoices::on_board(std::uint32_t narrow) const {
  OnBoard out{.domains = {}, .narrow = narrow};
  if (const topology::Placement* const found = placement()) out.domains = memory_domains(*found);
  return out;
}

Cost TeamChoices::cost_on_board(const Choice& choice) const {
  const OnBoard runs = on_board(0);
  TeamTraits traits = traits_;
  traits.on_board = &runs;
  return coll::cost_on_board(choice, traits);
}

/// What the model of memory says of a shape, for `explain`: with the costs by which the library chooses, and with those of the profile
/// if it has measured ranks that are as close as those of a domain, and as those of different domains. Empty: the members are in
/// one domain. May throw std::bad_alloc.
std::string TeamChoices::explain_memory(const Shape& shape, const TeamTraits& traits) const {
  const topology::Placement* const found = traits.domains.count < 2 ? nullptr : placement();
  if (found == nullptr) return {};
  std::string text = guess_lines(shape, traits);
  auto& topology = *state_.layer<topology::HostTopology>();
  const auto distance = [&](std::uint32_t begin, std::uint32_t end) {
    std::vector<Rank> members;
    for (std::uint32_t label = begin; label < end; ++label) members.push_back(found->member(label));
    return topology::closeness(members, topology.table().levels(), [&](Rank member, std::size_t level) {
      return topology.domain_of(team_.members[member], level);
    });
  };
  // Of domains that differ, and of pairs of domains, the most distant members count.
  const topology::Placement::Cut& cut = found->cuts().back();
  auto within = topology::Closeness::core;
  for (std::uint32_t i = 0; i < cut.groups(); ++i)
    within = std::max(within, distance(cut.first[i], cut.first[i + 1]));
  const topology::Closeness between = distance(0, found->size());
  const Rank other = team_.members[position_ == 0 ? 1 : 0];
  static_cast<void>(core::network_model_of(state_, other));  // reads the profile, if it was not asked for yet
  const auto profile = state_.profiles.find(state_.conduit(other).properties().name);
  if (between == within || profile == state_.profiles.end()) return text;
  const NetworkModel* const inside = profile->second.find(topology::word_of(within));
  const NetworkModel* const across = profile->second.find(topology::word_of(between));
  if (inside == nullptr || across == nullptr) return text;
  return text +
         memory_lines(shape, memory_machine(traits.domains, *inside, *across, shape.bytes), traits,
                      fmt::format("levels {} and {}", topology::word_of(within), topology::word_of(between)));
}

/// What crosses if the algorithm packs what a domain has. Empty: another one is chosen, or no domains are known.
std::string TeamChoices::explain_packed(const Shape& shape) const {
  const Choice chosen = choice(shape);
  if (chosen.algorithm == nullptr || chosen.algorithm->board != BoardMethod::domain_lines) return {};
  const topology::Placement* const found = placement();
  return found != nullptr ? packed_lines(shape, found->cuts().back().first) : std::string();
}

}  // namespace aqueduct::coll
