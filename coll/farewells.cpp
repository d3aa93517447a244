#include "coll/farewells.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;

Farewells::Farewells(core::EndpointState& state)
    : state_(state), heard_(state.ranks), told_(state.ranks), gone_(state.ranks) {
  heard_[state.rank] = true;
  const auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes) {
    Farewell farewell;
    std::memcpy(&farewell, args, sizeof farewell);
    static_cast<Farewells*>(self)->heard_[in.source] = true;
    auto& collectives = *in.state.layer<Collectives>();
    // A rank that has nothing to do with the lost one may not notice by itself, and wait for its farewell in vain.
    static_cast<void>(collectives.learns_of_loss(farewell.lost));
    // Nor may a conduit notice that a rank leaves in good order.
    if (farewell.leaves == 0) return;
    static_cast<Farewells*>(self)->gone_[in.source] = true;
    in.state.barriers->loss_news().confirm(in.source);
    static_cast<void>(collectives.learns_of_loss(in.source));
  };
  state.messages->add_internal(kFarewell, AmCategory::short_request, sizeof(Farewell),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

bool Farewells::over() noexcept {
  if (!all_told(Told::all)) return false;
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (!heard_[rank] && !state_.lost[rank]) return false;
  }
  return true;
}

bool Farewells::left() noexcept {
  if (!std::exchange(leaves_, true)) told_.assign(told_.size(), false);
  return all_told(Told::those_not_heard);
}

bool Farewells::left_last_barrier() noexcept {
  leaves_ = true;
  return all_told(Told::successors);
}

bool Farewells::is_told(Rank rank, Told whom) const noexcept {
  if (rank == state_.rank || state_.lost[rank]) return false;
  switch (whom) {
    case Told::all: return true;
    // The others are in Job::finish too, and do not wait for this rank any more.
    case Told::those_not_heard: return !heard_[rank];
    // Barriers::step. A rank that has said a farewell waits for this rank's.
    case Told::successors:
      return heard_[rank] || std::has_single_bit((rank + state_.ranks - state_.rank) % state_.ranks);
  }
  return false;
}

bool Farewells::all_told(Told whom) noexcept {
  const Rank first_lost = state_.lost_count != 0 ? state_.first_lost.front() : kNoRank;
  // A rank that has left in good order may have no room for ever (a conduit connects to it again and again), and must not
  // keep the others from hearing: one of them may wait for nothing else.
  bool all = true;
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (told_[rank] || !is_told(rank, whom)) continue;
    const Farewell farewell{first_lost, leaves_ ? 1u : 0u};
    const core::Post post = state_.messages->try_request(rank, AmCategory::short_request, kFarewell,
                                                         {&farewell, sizeof farewell, 0}, nullptr, {}, 0);
    told_[rank] = post.kind != core::Post::Kind::retry;
    all = told_[rank] && all;
  }
  return all;
}

}  // namespace aqueduct::coll
