#include "coll/farewells.hpp"

#include "am/messages.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;

Farewells::Farewells(core::EndpointState& state) : state_(state), heard_(state.ranks) {
  heard_[state.rank] = true;
  const auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes) {
    Farewell farewell;
    std::memcpy(&farewell, args, sizeof farewell);
    static_cast<Farewells*>(self)->heard_[in.source] = true;
    auto& collectives = *in.state.layer<Collectives>();
    // A rank that has nothing to do with the lost one may not notice by itself, and wait for its farewell in vain.
    static_cast<void>(collectives.learns_of_loss(farewell.lost));
    // Nor may a conduit notice that a rank leaves in good order.
    if (farewell.leaves != 0) static_cast<void>(collectives.learns_of_loss(in.source));
  };
  state.messages->add_internal(kFarewell, AmCategory::short_request, sizeof(Farewell),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

bool Farewells::over() noexcept {
  if (!all_told(/*leaves=*/false)) return false;
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (!heard_[rank] && !state_.lost[rank]) return false;
  }
  return true;
}

bool Farewells::left() noexcept {
  if (!std::exchange(leaves_, true)) next_ = 0;
  return all_told(/*leaves=*/true);
}

bool Farewells::all_told(bool leaves) noexcept {
  const auto some_lost =
      static_cast<Rank>(std::find(state_.lost.begin(), state_.lost.end(), true) - state_.lost.begin());
  for (; next_ < state_.ranks; ++next_) {
    // Those who are in Job::finish too do not wait for this rank any more.
    if (next_ == state_.rank || state_.lost[next_] || (leaves && heard_[next_])) continue;
    const Farewell farewell{some_lost, leaves ? 1u : 0u};
    const core::Post post = state_.messages->try_request(next_, AmCategory::short_request, kFarewell,
                                                         {&farewell, sizeof farewell, 0}, nullptr, {}, 0);
    if (post.kind == core::Post::Kind::retry) return false;
  }
  return true;
}

}  // namespace aqueduct::coll
