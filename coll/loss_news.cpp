#include "coll/loss_news.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::Incoming;

/// Chosen: launchers report an end within milliseconds, also on hosts with far more ranks than processors within a second.
constexpr std::chrono::seconds kPatience{2};
/// Chosen: a peer that has had no room for so long is lost itself, or in a long computation.
constexpr std::chrono::seconds kLongest{60};

}  // namespace

LossNews::LossNews(core::EndpointState& state) : state_(state) {
  const auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes) {
    LossMessage message;
    std::memcpy(&message, args, sizeof message);
    static_cast<LossNews*>(self)->take(in.source, message);
  };
  state.messages->add_internal(kLoss, AmCategory::short_request, sizeof(LossMessage),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

void LossNews::add(Rank peer) noexcept try {
  losses_.push_back({peer, state_.clock.now(), std::vector<bool>(state_.ranks)});
} catch (const std::bad_alloc&) {
  // Then the others are not told.
}

void LossNews::confirm(Rank peer) noexcept {
  std::erase_if(losses_, [peer](const Loss& loss) { return loss.peer == peer; });
}

void LossNews::pass_on() noexcept {
  if (losses_.empty()) [[likely]]
    return;
  const BarrierState* const world = barrier_of(state_.world->state());
  if (world == nullptr || world->finishing)
    return losses_.clear();  // ranks that leave count as lost: see Farewells
  const auto now = state_.clock.now();
  std::erase_if(losses_, [&](Loss& loss) {
    const auto age = now - loss.since;
    if (age < kPatience) return false;
    if (!std::exchange(loss.reported, true)) {
      state_.log.warn(
          "rank {} cannot be reached from here any more, and the launcher has not said that it has ended: "
          "all "
          "ranks go on without it. If it lives, the network between the two has failed",
          loss.peer);
    }
    return tell(loss) || age > kLongest;
  });
}

bool LossNews::tell(Loss& loss) noexcept {
  const LossMessage message{loss.peer, 0};
  bool all = true;
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (loss.told[rank] || rank == state_.rank || state_.lost[rank]) continue;
    const core::Post post = state_.messages->try_request(rank, AmCategory::short_request, kLoss,
                                                         {&message, sizeof message, 0}, nullptr, {}, 0);
    loss.told[rank] = post.kind != core::Post::Kind::retry;
    all = all && loss.told[rank];
  }
  return all;
}

// Runs inside a handler.
void LossNews::take(Rank source, const LossMessage& message) noexcept {
  const Rank lost = message.lost;
  if (lost == state_.rank) return go_on_alone(source);
  auto& collectives = *state_.layer<Collectives>();
  // Of two ranks that lose each other, the first one that is heard goes on with this one.
  if (lost >= state_.ranks || collectives.knows_of_loss(source) || collectives.knows_of_loss(lost)) return;
  // If there is no room, the peer learns of it by others, or by what it waits for in vain.
  if (lost != source) {
    static_cast<void>(state_.messages->try_request(lost, AmCategory::short_request, kLoss,
                                                   {&message, sizeof message, 0}, nullptr, {}, 0));
  }
  static_cast<void>(collectives.learns_of_loss(lost));
}

void LossNews::go_on_alone(Rank source) noexcept {
  if (alone_) return;
  alone_ = true;
  state_.log.error(
      "rank {} says that this rank is lost: another rank cannot reach it, and all others go on without it. "
      "This "
      "rank goes on alone. Has the network between two hosts failed, or was this process stopped?",
      source);
  const LossMessage message{state_.rank, 0};
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (rank == state_.rank || state_.lost[rank]) continue;
    static_cast<void>(state_.messages->try_request(rank, AmCategory::short_request, kLoss,
                                                   {&message, sizeof message, 0}, nullptr, {}, 0));
    static_cast<void>(state_.layer<Collectives>()->learns_of_loss(rank));
  }
}

}  // namespace aqueduct::coll
