#pragma once

#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/remote_access.hpp"

namespace aqueduct::conduits::ibv {

/// The atomics that adapters do: fetch-and-add and compare-and-swap on 64 bits. A load is an addition of 0.
class Atomics final : public core::NativeAtomics {
 public:
  Atomics(const Environment& env, const Losses& losses, const Memory& memory, LocalBuffers& buffers,
          Requests& requests, RemoteAccess& access, Connections& connections)
      : env_(env),
        losses_(losses),
        memory_(memory),
        buffers_(buffers),
        requests_(requests),
        access_(access),
        connections_(connections) {}

  core::AtomicSet operations() const noexcept override;
  core::Post atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                    core::Token token) noexcept override;

 private:
  const Environment& env_;
  const Losses& losses_;
  const Memory& memory_;
  LocalBuffers& buffers_;
  Requests& requests_;
  RemoteAccess& access_;
  Connections& connections_;
};

}  // namespace aqueduct::conduits::ibv
