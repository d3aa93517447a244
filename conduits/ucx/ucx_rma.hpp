#pragma once

#include "conduits/ucx/delivery.hpp"
#include "conduits/ucx/flushes.hpp"
#include "conduits/ucx/operations.hpp"
#include "conduits/ucx/owner_lock.hpp"
#include "conduits/ucx/peers.hpp"
#include "conduits/ucx/put_messages.hpp"
#include "conduits/ucx/segments.hpp"
#include "core/conduit.hpp"

namespace aqueduct::conduits::ucx {

/// Puts, by the network or by message, gets, and puts with a signal, which always go by message.
class Rma final : public core::NativeRma, public core::NativeSignal {
 public:
  Rma(const Library& ucp, Peers& peers, Operations& operations, Segments& segments, Flushes& flushes,
      PutMessages& put_messages, Delivery& delivery, const OwnerLock& lock, Counts& counts, Rank me)
      : ucp_(ucp),
        peers_(peers),
        operations_(operations),
        segments_(segments),
        flushes_(flushes),
        put_messages_(put_messages),
        delivery_(delivery),
        lock_(lock),
        counts_(counts),
        me_(me) {}

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank peer, std::uint64_t key) noexcept override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override {
    return put_signal(peer, key, offset, from, signal, token, /*unwaited=*/false);
  }
  core::Post put_signal_unwaited(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from,
                                 Signal signal, core::Token token) noexcept override {
    return put_signal(peer, key, offset, from, signal, token, /*unwaited=*/true);
  }

 private:
  using Entry = OwnerLock::Entry;

  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token, bool unwaited) noexcept;

  const Library& ucp_;
  Peers& peers_;
  Operations& operations_;
  Segments& segments_;
  Flushes& flushes_;
  PutMessages& put_messages_;
  Delivery& delivery_;
  const OwnerLock& lock_;
  Counts& counts_;
  Rank me_;
};

}  // namespace aqueduct::conduits::ucx
