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
/// Chosen: how long a rank that hears of a loss still treats the peer as alive, so that it can tell it, and a network that
/// loses packets can repeat them.
constexpr std::chrono::seconds kToTell{1};

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

void LossNews::add(Rank peer) noexcept {
  if (!alone_) remember(Loss::Kind::own, peer);
}

void LossNews::remember(Loss::Kind kind, Rank peer) noexcept try {
  std::vector<bool> told(state_.ranks, kind == Loss::Kind::heard);
  if (kind == Loss::Kind::heard) told[peer] = false;
  losses_.push_back({kind, peer, state_.clock.now(), std::move(told)});
} catch (const std::bad_alloc&) {
  // Then nobody is told. What is heard counts at once.
  auto& collectives = *state_.layer<Collectives>();
  if (kind == Loss::Kind::heard) static_cast<void>(collectives.learns_of_loss(peer));
  for (Rank rank = 0; kind == Loss::Kind::alone && rank < state_.ranks; ++rank)
    static_cast<void>(collectives.learns_of_loss(rank));
}

void LossNews::confirm(Rank peer) noexcept {
  std::erase_if(losses_,
                [peer](const Loss& loss) { return loss.kind == Loss::Kind::own && loss.peer == peer; });
}

bool LossNews::knows_of(Rank peer) const noexcept {
  return state_.layer<Collectives>()->knows_of_loss(peer) ||
         std::ranges::any_of(losses_, [peer](const Loss& loss) { return loss.peer == peer; });
}

void LossNews::pass_on() noexcept {
  if (losses_.empty()) [[likely]]
    return;
  const BarrierState* const world = barrier_of(state_.world->state());
  const bool finishing = world == nullptr || world->finishing;
  std::erase_if(losses_, [&](Loss& loss) { return go_on(loss, finishing); });
}

bool LossNews::untold() const noexcept {
  const auto& farewells = state_.barriers->farewells();
  return std::ranges::any_of(losses_, [&](const Loss& loss) {
    return loss.kind == Loss::Kind::own && !farewells.has_said(loss.peer);
  });
}

bool LossNews::go_on(Loss& loss, bool finishing) noexcept {
  const auto age = state_.clock.now() - loss.since;
  if (loss.kind == Loss::Kind::own) {
    if (finishing) return false;  // ranks that leave count as lost: see Farewells, and Job::finish
    if (alone_) return true;
    if (age < kPatience) return false;
    const bool cut_off = state_.lost_count + 1 == state_.ranks;
    if (!std::exchange(loss.reported, true)) {
      state_.log.warn(
          "rank {} cannot be reached from here any more, and the launcher has not said that it has ended: "
          "{}. If it lives, the network between the two has failed",
          loss.peer,
          cut_off && state_.ranks > 2
              ? "nor can any other rank, so this one goes on alone and is lost to them"
              : "all ranks go on without it");
    }
    if (!cut_off) return tell(loss);
    cut_off_ = true;
    alone_ = true;
    return true;
  }
  static_cast<void>(tell(loss));
  if (age < kToTell) return false;
  auto& collectives = *state_.layer<Collectives>();
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    if (loss.kind == Loss::Kind::alone || rank == loss.peer)
      static_cast<void>(collectives.learns_of_loss(rank));
  }
  return true;
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
  // Of two ranks that lose each other, the first one that is heard goes on with this one.
  if (lost >= state_.ranks || alone_ || knows_of(source) || knows_of(lost)) return;
  if (lost == source)  // it goes on alone
    static_cast<void>(state_.layer<Collectives>()->learns_of_loss(lost));
  else
    remember(Loss::Kind::heard, lost);
}

void LossNews::go_on_alone(Rank source) noexcept {
  if (std::exchange(alone_, true)) return;
  state_.log.error(
      "rank {} says that this rank is lost: another rank cannot reach it, and all others go on without it. "
      "This "
      "rank goes on alone. Has the network between two hosts failed, or was this process stopped?",
      source);
  losses_.clear();
  remember(Loss::Kind::alone, state_.rank);
}

}  // namespace aqueduct::coll
