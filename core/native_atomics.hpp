#pragma once

#include <aqueduct/atomic_types.hpp>
#include <aqueduct/rank.hpp>

#include "core/atomic_set.hpp"
#include "core/post.hpp"

#include <cstdint>

namespace aqueduct::core {

/// Atomics that the network does. They need not be atomic with respect to a processor's instructions: the layers above
/// do all atomics of a domain by the network, or all by the owner's processor (docs/decisions/0048-atomic-domains.md).
class NativeAtomics {
 public:
  virtual ~NativeAtomics() = default;
  /// The atomics that the network does, with the results of aqueduct::AtomicOp. The answer does not change after
  /// `connect`.
  virtual AtomicSet operations() const noexcept = 0;
  /// Does `call` on a word of the peer's segment, or of this rank's own. The word is aligned to its size.
  ///
  /// Completion:  the operation is done, and `*call.result` holds the old value if `call.result` is not null.
  /// Lifetime:    `call` only during the call; `*call.result` until completion.
  virtual Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                      Token token) noexcept = 0;
};

/// Atomics without a result, which a processor of the target's host carries out when they arrive. So they are atomic with
/// the processors' atomics, and the conduit's acknowledgement completes them: no message has to come back.
class NativeUpdates {
 public:
  /// Whether a conduit with updates takes this call: it has no result, and a result is all that a load has. A
  /// compare-swap has two operands.
  static constexpr bool takes(const detail::AtomicCall& call) noexcept {
    return call.result == nullptr && call.op != AtomicOp::load && call.op != AtomicOp::compare_swap;
  }

  virtual ~NativeUpdates() = default;
  /// Does `call`, for which takes() is true, on a word of the peer's segment. The word is aligned to its size.
  ///
  /// Completion:  the word has changed, unless its segment has ended meanwhile: then the owner's log says so.
  /// Lifetime:    `call` only during the call.
  virtual Post update(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                      Token token) noexcept = 0;
};

}  // namespace aqueduct::core
