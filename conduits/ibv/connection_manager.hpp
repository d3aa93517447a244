#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/wire.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace aqueduct::conduits::ibv {

/// librdmacm's handle of a connection, or of an attempt at one.
using CmId = Owned<rdma_cm_id>;

/// Makes connections by librdmacm, on devices without datagrams (iWARP), where DatagramListener cannot work. The
/// request and the answer carry one Hello each, as private data.
class ConnectionManager {
 public:
  ConnectionManager() = default;
  ~ConnectionManager();
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  /// Listens on an IP address of the port. Returns 0, or an errno; EADDRNOTAVAIL: the port has no address.
  /// `completions`: the descriptor of the completion channel; `descriptor` becomes readable for it as well.
  int open(const Verbs& verbs, const Port& port, Rank ranks, int completions);
  bool is_open() const noexcept { return listener_ != nullptr; }
  /// Readable when requests have completed, or librdmacm has events.
  int descriptor() const noexcept { return descriptor_; }
  /// Writes the IP address and port number into the address that peers receive.
  void tell(Address& address) const noexcept;

  /// An event of librdmacm.
  struct Event {
    rdma_cm_event_type what;
    rdma_cm_id* id;  ///< for a connection request: new, and owned by the caller
    int status;
    std::optional<Hello> hello;
  };
  /// The next event; nothing if none has arrived.
  std::optional<Event> next() noexcept;

  /// Starts a connection request: resolves the peer's address; an event follows. Null, and errno, if that fails.
  CmId start_request(const Address& peer) noexcept;
  /// Second step, after the address is resolved. Returns 0, or an errno.
  int resolve_route(rdma_cm_id& id) noexcept;
  /// Sends the request for a connection, or accepts the peer's. Returns 0, or an errno.
  int connect(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept;
  int accept(rdma_cm_id& id, const Hello& hello, const Sizes& sizes) noexcept;
  void reject(rdma_cm_id& id) noexcept { static_cast<void>(calls_->reject(&id, nullptr, 0)); }
  /// Takes ownership of a connection request.
  CmId own(rdma_cm_id* id) const noexcept { return {id, {calls_->destroy_id}}; }

 private:
  bool listen_at(const sockaddr& address, const Port& port, const char* (*name_of)(ibv_device*), int backlog);

  const ConnectionCalls* calls_ = nullptr;
  rdma_event_channel* channel_ = nullptr;
  CmId listener_;
  std::array<std::uint8_t, 16> host_{};
  std::uint16_t port_ = 0;
  int descriptor_ = -1;
};

}  // namespace aqueduct::conduits::ibv
