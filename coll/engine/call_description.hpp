#pragma once

#include <aqueduct/coll_types.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include <cstdint>
#include <string>

namespace aqueduct::coll {

/// What a member has called, as far as all members must agree on it; also as a message tells it. What an operation does not
/// use is as it is by default, whatever the call has given: it must not make two calls different.
struct CallDescription {
  Collective operation = Collective::barrier;
  ElementType type = ElementType::bytes;
  ReduceOp op = ReduceOp::sum;
  Sync in = Sync::all;
  Sync out = Sync::all;
  ReduceOrder order = ReduceOrder::any;
  std::uint8_t facts = 0;  ///< bits: kKnownPlaces, kOrdered, kBinds, kEnds, kSourcesKnown, kRelayed, kNoTrial
  /// 0, or the ErrorCode with which this member has refused its own call: then the other fields are as they were given.
  std::uint8_t refused = 0;
  std::uint32_t number = 0;   ///< of a user's operator
  std::uint32_t element = 1;  ///< bytes
  Rank root = 0;
  std::uint32_t algorithm = 0;  ///< which algorithm and parameters the member has chosen: a hash; 0: none yet
  std::uint64_t bytes = 0;      ///< of one block; 0 if blocks may differ

  static constexpr std::uint8_t kKnownPlaces = 1;  ///< the buffers lie at places that all members know
  static constexpr std::uint8_t kOrdered = 2;      ///< the user's operator is not commutative on this member
  static constexpr std::uint8_t kBinds = 4;        ///< no such operation, but a plan of it is bound
  static constexpr std::uint8_t kEnds = 8;         ///< likewise: such a plan is ended
  static constexpr std::uint8_t kSourcesKnown = 16;  ///< of a permute: members say from whom they receive
  static constexpr std::uint8_t kRelayed = 32;       ///< another member's refusal: see relayed_no_memory
  static constexpr std::uint8_t kNoTrial =
      64;  ///< CollOptions::no_trials, of an operation that can be learned

  friend bool operator==(const CallDescription&, const CallDescription&) = default;
};
static_assert(sizeof(CallDescription) == 32);
static_assert(static_cast<std::uint16_t>(ErrorCode::internal) <= 0xff);

/// The same call, as this member refuses it.
inline CallDescription refused_call(CallDescription call, ErrorCode why) noexcept {
  call.refused = static_cast<std::uint8_t>(why);
  return call;
}

/// What stands for a call of which the sender says only that the members' calls differ: it has made too many since to know what
/// its own was, or was in none of the engine.
inline CallDescription forgotten_call() noexcept { return refused_call({}, ErrorCode::mismatch); }

/// A call about a plan of such operations. `about`: kBinds or kEnds.
inline CallDescription call_about_plan(CallDescription call, std::uint8_t about) noexcept {
  call.facts |= about;
  return call;
}
/// Whether the call sends nothing, so that no member can see from a counter that another one has made another call.
inline bool is_silent(const CallDescription& call) noexcept {
  return (call.facts & (CallDescription::kBinds | CallDescription::kEnds)) != 0;
}

/// What stands for the call that a member in Job::finish will never make.
inline constexpr CallDescription kFinished{.refused = static_cast<std::uint8_t>(ErrorCode::closed)};
/// Likewise, of a member in Team::end.
inline constexpr CallDescription kEnded{.refused = static_cast<std::uint8_t>(ErrorCode::closed), .number = 1};

/// What stands for the call of a member that is in a set-up exchange of the team, the one of that number: it makes or ends
/// something that all members make or end together.
constexpr CallDescription set_up_call(std::uint64_t exchange) noexcept {
  return {.refused = static_cast<std::uint8_t>(ErrorCode::closed), .number = 2, .bytes = exchange};
}
constexpr bool is_set_up(const CallDescription& call) noexcept { return call == set_up_call(call.bytes); }

/// What a member tells in place of its own call if it has made it and `lacking` had no memory for it: that is why the team
/// is broken, also for members that have not heard of the refusal yet, and for those that have refused alike.
constexpr CallDescription relayed_no_memory(Rank lacking) noexcept {
  return {.facts = CallDescription::kRelayed,
          .refused = static_cast<std::uint8_t>(ErrorCode::no_memory),
          .root = lacking};
}
constexpr bool is_relayed(const CallDescription& call) noexcept {
  return call == relayed_no_memory(call.root);
}

/// For logs: "all_reduce of 8 bytes (f64, sum)", "bind of a plan of …".
std::string text_of(const CallDescription& call);
/// A number of 32 bits, never 0, that differs between different calls, or between two calls of a team, with high
/// probability. `number` counts the team's calls.
std::uint32_t fingerprint(std::uint64_t number, const CallDescription& call) noexcept;
/// The same, in two parts: what of it depends on the call alone, and the rest.
std::uint64_t digest_of(const CallDescription& call) noexcept;
// Each step is one-to-one in the 64 bits, so two calls that differ in one word, or in their number alone, have different
// 64 bits; folding these to 32 leaves a chance of 2^-32.
constexpr std::uint32_t fingerprint(std::uint64_t number, std::uint64_t digest) noexcept {
  std::uint64_t hash = digest ^ number * 0x94d049bb133111ebu;
  hash ^= hash >> 32;
  hash *= 0xbf58476d1ce4e5b9u;
  const auto folded = static_cast<std::uint32_t>(hash >> 32);
  return folded != 0 ? folded : 1;
}

}  // namespace aqueduct::coll
