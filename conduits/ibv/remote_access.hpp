#pragma once

#include "conduits/ibv/messages.hpp"

namespace aqueduct::conduits::ibv {

/// RDMA reads and writes on one connection. Callers have begun the request; these functions give it its buffers and
/// post it. If the answer is not `posted`, the request is undone.
class RemoteAccess {
 public:
  RemoteAccess(const Environment& env, const Memory& memory, LocalBuffers& buffers, Requests& requests,
               Credits& credits, Messages& messages)
      : env_(env),
        memory_(memory),
        buffers_(buffers),
        requests_(requests),
        credits_(credits),
        messages_(messages) {}

  // Checked before a post, because an access that the peer's adapter refuses ends the connection.
  static bool in_range(const Key& key, std::uint64_t offset, std::size_t bytes) noexcept {
    return offset <= key.bytes && bytes <= key.bytes - offset;
  }
  /// Logs an access that is not, and returns the answer to it. `what`: "put", "get", …
  core::Post out_of_range(Rank peer, const Key& key, std::uint64_t offset, std::size_t bytes,
                          const char* what) const noexcept;

  /// Requires: `work.request` has its opcode. `failed` with no_memory: the local buffer cannot be registered.
  core::Post write(Connection& connection, OutstandingRequest& entry, std::uint64_t key, std::uint64_t offset,
                   core::Bytes from, bool inject, Work& work, bool signaled) noexcept;
  core::Post read(Connection& connection, OutstandingRequest& entry, std::uint64_t key, std::uint64_t offset,
                  core::MutableBytes to, Work& work) noexcept;
  /// A write and a signal that arrives after it. Begins its requests itself.
  core::Post write_and_signal(Connection& connection, std::uint64_t key, std::uint64_t offset,
                              core::Bytes from, Signal signal, core::Token token) noexcept;

 private:
  const Environment& env_;
  const Memory& memory_;
  LocalBuffers& buffers_;
  Requests& requests_;
  Credits& credits_;
  Messages& messages_;
};

}  // namespace aqueduct::conduits::ibv
