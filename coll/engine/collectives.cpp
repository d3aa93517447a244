#include "coll/engine/collectives.hpp"

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

Collectives::Collectives(EndpointState& state) : offers_(state) {}

// A Team may outlive its job; it then finds no engine.
Collectives::~Collectives() {
  for (const auto& engine : teams_) engine->team->slot(TeamSlot::collectives) = nullptr;
}

void Collectives::enter(TeamState& team, std::span<const Offer> all) {
  auto engine = std::make_unique<TeamEngine>(TeamEngine{&team, {all.begin(), all.end()}});
  teams_.push_back(std::move(engine));
  team.slot(TeamSlot::collectives) = teams_.back().get();
}

Status Collectives::drain(TeamState&) noexcept { return {}; }

void Collectives::leave(TeamState& team, bool together) noexcept {
  auto* const engine = static_cast<TeamEngine*>(team.slot(TeamSlot::collectives));
  if (engine == nullptr) return;
  if (together) offers_.give_back(engine->offers[team.index]);
  team.slot(TeamSlot::collectives) = nullptr;
  std::erase_if(teams_, [&](const auto& one) { return one.get() == engine; });
}

}  // namespace aqueduct::coll
