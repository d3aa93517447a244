#pragma once

#include "am/layer_handlers.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// The messages of the collective layer.
enum CollectiveHandler : HandlerId {
  kArrive = am::kCollArrive,
  kExchange = am::kCollExchange,
  kFarewell = am::kCollFarewell,
  kAbsent = am::kCollAbsent,
  kLoss = am::kCollLoss,
};

/// The sender has reached this round of this phase of the team's barrier.
struct Arrival {
  std::uint64_t team;
  std::uint64_t phase;
  std::uint32_t round;      ///< with kOfFinish: of a barrier of Job::finish
  std::uint32_t vote_kind;  ///< of the vote of the members of which the sender has heard: its bits, high half
  std::uint32_t vote_value;
  /// 0; in Job::finish and Team::end, unless the sender knows of a loss: one more than its calls of the team, in their low 31
  /// bits
  std::uint32_t leaving;
};

inline constexpr std::uint32_t kOfFinish = std::uint32_t{1} << 31;

/// The rounds of an exchange: what all members give goes up a tree, and comes down to all.
enum ExchangeRound : std::uint32_t { kUp, kDown };

/// A piece of a member's stream in one round of an exchange; or, with a code, the reason why the member sends nothing.
struct ExchangePiece {
  std::uint64_t team;
  std::uint64_t number;  ///< of the exchange, counted per team
  std::uint32_t round;
  std::uint32_t code;  ///< an ErrorCode: the exchange has failed at rank `at`; ok: the payload is a piece
  std::uint64_t at;
  std::uint64_t total;
};

/// The sender does not have a team of which it is a member, and which others may have.
struct Absence {
  std::uint64_t team;
  std::uint32_t code;  ///< an ErrorCode: why it could not make the team
  std::uint32_t unused;
};

/// The sender has lost a rank by its network, or is lost to the others itself.
struct LossMessage {
  std::uint32_t lost;
  std::uint32_t unused;
};

/// The sender is in Job::finish, after a loss.
struct Farewell {
  std::uint32_t lost;    ///< the first loss of which the sender has learned
  std::uint32_t leaves;  ///< 1: it waits no longer; 0: it stays until it has heard of the others
};

}  // namespace aqueduct::coll
