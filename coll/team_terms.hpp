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
  std::uint64_t collectives =
      0;  ///< what other operations its conduit has for it: NativeCollectives::offer; 0: none
  TeamOffer offer;
};
static_assert(sizeof(TeamTerms) == 48);

/// Makes what the layers have for a new team. Call before the exchange; the team's end undoes it. May throw std::bad_alloc.
inline TeamTerms prepare_team(TeamState& made) {
  TeamTerms terms;
  terms.native = Barriers::has_native(made) ? 1 : 0;
  terms.offer = prepare_collectives(made);
  terms.collectives = Collectives::native_offer(made);
  return terms;
}

/// All members have the team. `said`: their terms, by index in `over`, a team that they belong to. Errors: no_memory, at
/// this rank; the other members have the team.
inline Status settle_team(TeamState& made, const TeamState& over, std::span<const Blob> said) noexcept try {
  bool native = true;
  const std::uint64_t mine = Collectives::native_offer(made);
  bool collectives = mine != 0;
  std::vector<TeamOffer> offers;
  offers.reserve(made.size());
  for (Rank i = 0; i < made.size(); ++i) {
    TeamTerms terms;
    const Blob& one = said[over.find(made.members[i])];
    if (one.size() != sizeof terms) return {ErrorCode::internal, made.members[i]};
    std::memcpy(&terms, one.data(), sizeof terms);
    native = native && terms.native == 1;
    collectives = collectives && terms.collectives == mine;
    offers.push_back(terms.offer);
  }
  made.endpoint.barriers->choose_native(made, native);
  Collectives::choose_native(made, collectives);
  return settle_collectives(made, offers);
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, made.endpoint.rank};
}

}  // namespace aqueduct::coll
