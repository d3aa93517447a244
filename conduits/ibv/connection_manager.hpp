#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/wire.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace aqueduct::conduits::ibv {

/// A connection, or the attempt at one, as librdmacm knows it.
using Call = Owned<rdma_cm_id>;

/// Makes connections by librdmacm, on devices that have no datagrams for DatagramListener (iWARP): a Hello travels with the request, and one
/// with the answer.
class ConnectionManager {
 public:
  ConnectionManager() = default;
  ~ConnectionManager();
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  /// Listens at an address that the port has. 0, or an errno; EADDRNOTAVAIL: it has none. `completions`: the descriptor of
  /// the completion channel, which `descriptor` tells of as well.
  int open(const Verbs& verbs, const Port& port, Rank ranks, int completions);
  bool is_open() const noexcept { return listener_ != nullptr; }
  /// Readable when something has completed, or there are events.
  int descriptor() const noexcept { return descriptor_; }
  /// Where peers reach it, in an address for them.
  void tell(Address& address) const noexcept;

  /// Something has become of a call.
  struct Event {
    rdma_cm_event_type what;
    rdma_cm_id* id;  ///< of a request: new, and the caller's
    int status;
    std::optional<Hello> hello;
  };
  /// The next; nothing if there is none now.
  std::optional<Event> next() noexcept;

  /// Begins to call a peer: an event follows. Null, and errno.
  Call call(const Address& peer) noexcept;
  /// The peer's address is resolved: goes on to the route. 0, or an errno.
  int resolve_route(rdma_cm_id& id) noexcept;
  /// Asks for a connection, or accepts one, for a queue pair. 0, or an errno.
  int connect(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept;
  int accept(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept;
  void reject(rdma_cm_id& id) noexcept { static_cast<void>(calls_->reject(&id, nullptr, 0)); }
  /// Owns a request from now on.
  Call own(rdma_cm_id* id) const noexcept { return {id, {calls_->destroy_id}}; }

 private:
  bool listen_at(const sockaddr& address, const Port& port, const char* (*name_of)(ibv_device*), int backlog);

  const ConnectionCalls* calls_ = nullptr;
  rdma_event_channel* channel_ = nullptr;
  Call listener_;
  std::array<std::uint8_t, 16> host_{};
  std::uint16_t port_ = 0;
  int descriptor_ = -1;
};

}  // namespace aqueduct::conduits::ibv
