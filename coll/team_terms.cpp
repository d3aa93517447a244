#include "coll/team_terms.hpp"

#include "coll/absences.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/call_description.hpp"
#include "coll/exchange.hpp"

#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace aqueduct::coll {

namespace {

/// A member's terms. Of a message that has not their length: that it is wrong.
TeamTerms terms_of(const TeamState& over, const Contributions& said, Rank index) noexcept {
  TeamTerms terms;
  if (said[index].size() == sizeof terms) {
    std::memcpy(&terms, said[index].data(), sizeof terms);
  } else {
    terms.code = static_cast<std::uint32_t>(ErrorCode::internal);
    terms.rank = over.members[index];
  }
  return terms;
}

/// The first problem that a member has told. The same on all members.
Status first_problem(const TeamState& over, const Contributions& said) noexcept {
  for (Rank i = 0; i < over.size(); ++i) {
    const TeamTerms terms = terms_of(over, said, i);
    if (terms.code == 0) continue;
    return {code_from(terms.code), terms.rank};
  }
  return {};
}

/// All members have the team: gives it what follows from the terms of all of them.
Status take_terms(TeamState& made, const TeamState& over, const Contributions& said) noexcept try {
  bool native = true;
  const std::uint64_t mine = Collectives::native_offer(made);
  bool collectives = mine != 0;
  const std::uint64_t tuning = Collectives::tuning_hash(made);
  bool tuned_alike = true;
  std::vector<TeamOffer> offers;
  offers.reserve(made.size());
  for (Rank i = 0; i < made.size(); ++i) {
    const TeamTerms terms = terms_of(over, said, over.find(made.members[i]));
    native = native && terms.native == 1;
    collectives = collectives && terms.collectives == mine;
    tuned_alike = tuned_alike && terms.tuning == tuning;
    offers.push_back(terms.offer);
  }
  made.endpoint.barriers->choose_native(made, native);
  Collectives::choose_native(made, collectives);
  Collectives::choose_tuning(made, tuned_alike);
  return settle_collectives(made, offers);
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, made.endpoint.rank};
}

/// `nobody`: no member has the team. Otherwise others may have it, and write to this member's places: these are not used
/// again, and the others learn that they would wait for this member in vain.
void leave_unsettled(TeamState& made, Status why, bool nobody) noexcept {
  // Of a lost member of the team all members learn by themselves, and that is the better reason. An exchange may have told this
  // one of the loss before its conduit does.
  const bool lost = made.lost_member() != kNoRank ||
                    (why.code() == ErrorCode::peer_lost && made.find(why.peer()) != kNoRank);
  Collectives* const collectives = made.endpoint.layer<Collectives>();
  // What another member has told, all know; but a loss in the team that is split some may have noticed too late.
  const bool own = why.peer() == made.endpoint.rank || why.code() == ErrorCode::peer_lost;
  if (!nobody && !lost && own) static_cast<void>(Absences::tell(made, why.code()));
  if (!nobody && collectives != nullptr && !lost)
    collectives->refuse(made, refused_call({}, why.code()), why.code());
  leave_collectives(made, nobody);
  made.endpoint.barriers->leave(made, nobody);
}

}  // namespace

TeamTerms prepare_team(TeamState& made) {
  TeamTerms terms;
  terms.native = Barriers::has_native(made) ? 1 : 0;
  terms.offer = prepare_collectives(made);
  terms.collectives = Collectives::native_offer(made);
  terms.tuning = Collectives::tuning_hash(made);
  return terms;
}

Status settle_team(TeamState* made, TeamState& over, std::uint64_t& exchanges, TeamTerms terms,
                   Status here) noexcept {
  Status status = here;
  bool nobody = false;
  // A lost member ends the creation for all, without an agreement.
  if (here.code() != ErrorCode::peer_lost || over.find(here.peer()) == kNoRank) {
    if (!here) {
      terms.code = static_cast<std::uint32_t>(here.code());
      terms.rank = here.peer() != kNoRank ? here.peer() : over.endpoint.rank;
    }
    const auto said =
        over.endpoint.barriers->exchanges().exchange(over, exchanges, std::as_bytes(std::span(&terms, 1)));
    status = said.status();
    if (status) {
      status = first_problem(over, *said);
      nobody = !status;
      if (status && made != nullptr) status = take_terms(*made, over, *said);
    }
  }
  if (!status && made != nullptr) leave_unsettled(*made, status, nobody);
  return status;
}

}  // namespace aqueduct::coll
