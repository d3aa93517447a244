#pragma once

#include <aqueduct/coll.hpp>

#include "coll/engine/request.hpp"
#include "coll/shared/board_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace aqueduct::coll {

struct BlocksCall;
struct Method;
struct Run;

/// What a collective call has turned out to be: its checked arguments, and how it is carried out. Calls in flight and plans
/// name it instead of having copies. A team keeps its latest ones, so that a call that differs from one of them in the
/// addresses of its buffers alone needs no check but that of the addresses.
///
/// One whose buffers lie at places that all members know is never kept: its places serve one call, or one plan.
struct KnownCall {
  aqueduct::detail::CollCall given;  ///< as the program made it; only of one that is kept
  // Likewise: find_addresses compares with these.
  std::uint64_t addresses_of_in = 0;  ///< how many addresses but 0 the input may begin at
  std::uint64_t addresses_of_out = 0;
  Request request;           ///< with the addresses of the first such call
  Method* method = nullptr;  ///< null: the team has one member, or `blocks`
  Shape run;                 ///< Method::run with this call's root
  std::uint64_t digest = 0;  ///< of the description, with the algorithm
  BoardPlan plan;            ///< of a call on the team's board: what it does there
  BoardCombiner combiner;
  std::uint32_t uses = 0;  ///< records of calls, plans and the team's table that name it
  bool kept = false;       ///< a plan or the team's table does
  bool noted_here =
      false;  ///< the team's agreement knows calls by `request.description`: TeamAgreement::calls_quietly
  /// Runs of former calls, with their records: all that is equal in each call stands in them (TeamEngine::start_again). Each
  /// call that starts takes one, and brings it back when it is over.
  Run* prepared = nullptr;
  /// Of a call whose blocks may differ; then each start has a known call and a method of its own, and a plan no method.
  BlocksCall* blocks = nullptr;
  KnownCall* next = nullptr;  ///< in the pool
};

/// Where the buffers of a call are on this member; null: it has none.
struct CallMemory {
  std::byte* in;
  std::byte* out;
};

/// Whether a call that was made as `given` may be made again from what is known of it: its addresses are all that its
/// checks would have to look at.
bool may_be_known(const aqueduct::detail::CollCall& given, const Request& request) noexcept;

/// Whether two calls differ at most in the addresses of their buffers, and in `limit`. Requires: may_be_known(known).
inline bool same_but_for_addresses(const aqueduct::detail::CollCall& known,
                                   const aqueduct::detail::CollCall& call) noexcept {
  using aqueduct::detail::CollBuffer;
  using aqueduct::detail::CollCall;
  // Neighbours without a gap are compared as one word.
  static_assert(offsetof(CollCall, operation) == 0 && offsetof(CollCall, element) == 4);
  static_assert(offsetof(CollBuffer, where) == 0 && offsetof(CollBuffer, segment) == 4);
  static_assert(std::has_unique_object_representations_v<Reducer> && sizeof(Reducer) == 8);
  const auto same_word = [](const auto& a, const auto& b) {
    std::uint64_t first, second;
    std::memcpy(&first, &a, sizeof first);
    std::memcpy(&second, &b, sizeof second);
    return first == second;
  };
  // The modes, the order and no_trials: everything but the limit.
  using aqueduct::CollOptions;
  static_assert(offsetof(CollOptions, in) == 0 && offsetof(CollOptions, out) == 1 &&
                offsetof(CollOptions, order) == 2 && offsetof(CollOptions, no_trials) == 3);
  const auto same_half_word = [](const auto& a, const auto& b) {
    std::uint32_t first, second;
    std::memcpy(&first, &a, sizeof first);
    std::memcpy(&second, &b, sizeof second);
    return first == second;
  };
  return same_word(known, call) && known.root == call.root && same_word(known.in, call.in) &&
         known.in.bytes == call.in.bytes && same_word(known.out, call.out) &&
         known.out.bytes == call.out.bytes && same_word(known.reducer, call.reducer) &&
         same_half_word(known.options, call.options);
}

/// Keeps what the program has called, for find_addresses.
inline void set_given(KnownCall& known, const aqueduct::detail::CollCall& given) noexcept {
  known.given = given;
  known.addresses_of_in = ~given.in.bytes;
  known.addresses_of_out = ~given.out.bytes;
}

/// Finds the buffers of a call that differs from a known one in its addresses alone. False: the checks must look at them.
inline bool find_addresses(const KnownCall& known, const aqueduct::detail::CollCall& call,
                           CallMemory& found) noexcept {
  using aqueduct::detail::CollBuffer;
  // Null, or beyond the last address: its check names the argument.
  const auto is_memory = [](const CollBuffer& buffer, std::uint64_t addresses) {
    return reinterpret_cast<std::uintptr_t>(buffer.memory) - 1 < addresses;
  };
  const Request& before = known.request;
  found = {nullptr, nullptr};
  if (before.out.mine != nullptr) {
    if (!is_memory(call.out, known.addresses_of_out)) [[unlikely]]
      return false;
    found.out = static_cast<std::byte*>(call.out.memory);
  }
  if (before.in.mine == nullptr) return true;
  if (call.in.where == CollBuffer::Where::nowhere) {
    found.in = found.out + (before.in.mine - before.out.mine);
    return true;
  }
  if (!is_memory(call.in, known.addresses_of_in)) [[unlikely]]
    return false;
  found.in = static_cast<std::byte*>(call.in.memory);
  // Two ranges that have no common bytes, or lie as those of the known call do, are as good as these.
  const auto in = reinterpret_cast<std::uintptr_t>(found.in);
  const auto out = reinterpret_cast<std::uintptr_t>(found.out);
  return out == 0 || in + call.in.bytes <= out || out + call.out.bytes <= in ||
         in - out == reinterpret_cast<std::uintptr_t>(before.in.mine) -
                         reinterpret_cast<std::uintptr_t>(before.out.mine);
}

}  // namespace aqueduct::coll
