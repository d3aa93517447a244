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
  std::uint8_t facts = 0;  ///< bits: kKnownPlaces, kOrdered, kSourcesKnown
  /// 0, or the ErrorCode with which this member has refused its own call: then the other fields are as they were given.
  std::uint8_t refused = 0;
  std::uint32_t number = 0;   ///< of a user's operator
  std::uint32_t element = 1;  ///< bytes
  Rank root = 0;
  std::uint32_t algorithm = 0;  ///< which algorithm and parameters the member has chosen: a hash; 0: none yet
  std::uint64_t bytes = 0;      ///< of one block; 0 if blocks may differ

  static constexpr std::uint8_t kKnownPlaces = 1;   ///< the buffers lie at places that all members know
  static constexpr std::uint8_t kOrdered = 2;       ///< the user's operator is not commutative on this member
  static constexpr std::uint8_t kSourcesKnown = 4;  ///< of a permute: members say from whom they receive

  friend bool operator==(const CallDescription&, const CallDescription&) = default;
};
static_assert(sizeof(CallDescription) == 32);
static_assert(static_cast<std::uint16_t>(ErrorCode::internal) <= 0xff);

/// The same call, as this member refuses it.
inline CallDescription refused_call(CallDescription call, ErrorCode why) noexcept {
  call.refused = static_cast<std::uint8_t>(why);
  return call;
}

/// What stands for the call that a member in Job::finish will never make.
inline constexpr CallDescription kFinished{.refused = static_cast<std::uint8_t>(ErrorCode::closed)};

/// For logs: "all_reduce of 8 bytes (f64, sum)".
std::string text_of(const CallDescription& call);
/// A number of 32 bits, never 0, that differs between different calls, or between two calls of a team, with high
/// probability. `number` counts the team's calls.
std::uint32_t fingerprint(std::uint64_t number, const CallDescription& call) noexcept;

}  // namespace aqueduct::coll
