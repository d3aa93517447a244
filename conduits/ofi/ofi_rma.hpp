#pragma once

#include "conduits/ofi/local_buffers.hpp"
#include "conduits/ofi/messages.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/registrations.hpp"
#include "core/conduit.hpp"
#include "core/to_self.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ofi {

/// Puts and gets, each one operation of libfabric's, and puts with a signal.
class Rma final : public core::NativeRma, public core::NativeSignal {
 public:
  Rma(const Objects& objects, Operations& operations, Messages& messages, const Peers& peers,
      Registrations& registrations, LocalBuffers& local, core::ToSelf& to_self, const Provider& provider,
      std::size_t slot_bytes, Rank me)
      : ep_(objects.ep.get()),
        operations_(operations),
        messages_(messages),
        peers_(peers),
        registrations_(registrations),
        local_(local),
        to_self_(to_self),
        provider_(provider),
        delivered_(provider.delivered()),
        slot_bytes_(slot_bytes),
        me_(me) {}

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override;
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank, std::uint64_t key) noexcept override { registrations_.forget(key); }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;
  core::Post put_signal(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, Signal signal,
                        core::Token token) noexcept override;

 private:
  core::Post write(Request& request, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                   std::uint64_t data, std::uint64_t flags) noexcept;
  core::Post put_to_self(std::uint64_t key, std::uint64_t offset, core::Bytes from) noexcept;

  fid_ep* ep_;
  Operations& operations_;
  Messages& messages_;
  const Peers& peers_;
  Registrations& registrations_;
  LocalBuffers& local_;
  core::ToSelf& to_self_;
  const Provider& provider_;
  std::uint64_t delivered_;  ///< asks for completions that mean arrival
  std::size_t slot_bytes_;
  Rank me_;
};

}  // namespace aqueduct::conduits::ofi
