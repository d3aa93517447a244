#pragma once

#include "coll/barriers.hpp"
#include "coll/engine/pending_offer.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// What a member of a new team tells the others in the exchange that decides whether the team is made: it has then made its
/// part of the team, whose members it knows from an exchange before. Travels as it is.
struct TeamTerms {
  std::uint64_t native = 0;  ///< 1: its conduit has a barrier for the team
  TeamOffer offer;
};
static_assert(sizeof(TeamTerms) == 40);

/// Makes what the layers have for a new team. Call before the exchange; the team's end undoes it. May throw std::bad_alloc.
inline TeamTerms prepare_team(TeamState& made) {
  return {Barriers::has_native(made) ? 1u : 0u, prepare_collectives(made)};
}

/// All members have the team. `said`: their terms, by index in `over`, a team that they belong to. Errors: no_memory, at
/// this rank; the other members have the team.
inline Status settle_team(TeamState& made, const TeamState& over, std::span<const Blob> said) noexcept try {
  bool native = true;
  std::vector<TeamOffer> offers;
  offers.reserve(made.size());
  for (Rank i = 0; i < made.size(); ++i) {
    TeamTerms terms;
    const Blob& one = said[over.find(made.members[i])];
    if (one.size() != sizeof terms) return {ErrorCode::internal, made.members[i]};
    std::memcpy(&terms, one.data(), sizeof terms);
    native = native && terms.native == 1;
    offers.push_back(terms.offer);
  }
  made.endpoint.barriers->choose_native(made, native);
  return settle_collectives(made, offers);
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, made.endpoint.rank};
}

}  // namespace aqueduct::coll
