#include "coll/farewells.hpp"

#include "am/messages.hpp"
#include "coll/wire.hpp"

#include <fmt/format.h>

#include <memory>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;

Farewells::Farewells(core::EndpointState& state) : state_(state), heard_(state.ranks) {
  heard_[state.rank] = true;
  const auto take = [](void* self, Incoming& in, const std::byte*, core::MutableBytes) {
    static_cast<Farewells*>(self)->heard_[in.source] = true;
  };
  state.messages->add_internal(kFarewell, AmCategory::short_request, sizeof(Farewell),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

bool Farewells::over() noexcept {
  for (; next_ < state_.ranks; ++next_) {
    if (next_ == state_.rank || state_.lost[next_]) continue;
    const Farewell farewell{state_.lost_count};
    const core::Post post = state_.messages->try_request(next_, AmCategory::short_request, kFarewell,
                                                         {&farewell, sizeof farewell, 0}, nullptr, {}, 0);
    if (post.kind == core::Post::Kind::retry) return false;
  }
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (!heard_[rank] && !state_.lost[rank]) return false;
  }
  return true;
}

std::string Farewells::missing() const {
  std::string text;
  Rank more = 0;
  constexpr Rank kMost = 8;
  for (Rank rank = 0, named = 0; rank < state_.ranks; ++rank) {
    if (heard_[rank] || state_.lost[rank]) continue;
    if (named++ >= kMost) {
      ++more;
    } else {
      text += fmt::format("{}{}", text.empty() ? "rank " : ", ", rank);
    }
  }
  return more == 0 ? text : text + fmt::format(" and {} more", more);
}

}  // namespace aqueduct::coll
