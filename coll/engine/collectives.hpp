#pragma once

#include "coll/engine/team_offers.hpp"
#include "core/layer.hpp"
#include "team/team_state.hpp"

#include <memory>
#include <span>
#include <vector>

namespace aqueduct::coll {

using aqueduct::detail::EndpointState;
using aqueduct::detail::TeamState;

/// What the engine has for one team.
struct TeamEngine {
  TeamState* team = nullptr;
  std::vector<TeamOffer> offers;  ///< [member]
};

/// The collectives of an endpoint's teams. So far only the teams' memory.
class Collectives final : public core::Layer {
 public:
  using Offer = TeamOffer;

  explicit Collectives(EndpointState& state);
  ~Collectives();
  static std::span<const SettingInfo> settings() noexcept { return {&TeamOffers::kSetting, 1}; }

  /// Takes a place for a team of at most so many members; its counters are 0.
  Offer offer(Rank most_members) noexcept { return offers_.take(most_members); }
  /// The team was not made on any member.
  void withdraw(const Offer& mine) noexcept { offers_.give_back(mine); }
  /// `all`: [member]. May throw std::bad_alloc; nothing has happened then.
  void enter(TeamState& team, std::span<const Offer> all);
  /// Waits until nothing of the team is in flight.
  Status drain(TeamState& team) noexcept;
  /// `together`: all members end the team and have drained it, so its place may be another team's. Does nothing for a
  /// team that has not entered.
  void leave(TeamState& team, bool together) noexcept;
  HiddenMemory& memory() noexcept { return offers_.memory(); }

 private:
  TeamOffers offers_;
  std::vector<std::unique_ptr<TeamEngine>> teams_;
};

}  // namespace aqueduct::coll
