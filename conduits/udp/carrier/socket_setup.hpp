#pragma once

#include <aqueduct/status.hpp>

#include "conduits/udp/carrier/address.hpp"
#include "core/log.hpp"

#include <string>
#include <utility>

namespace aqueduct::conduits::udp {

/// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const noexcept { return number_; }

 private:
  int number_ = -1;
};

/// A nonblocking UDP socket bound to `address`; port 0 takes any free port.
///
/// Errors: network_failed, after a line in the log that says why and what to try.
Result<Descriptor> make_bound_socket(const Address& address, core::Log& log);

/// The address that a socket is bound to. Empty on failure.
Address local_address(int socket) noexcept;

/// Which of a socket's two buffers.
enum class SocketBuffer { send, receive };

/// Asks for a buffer of `wanted` bytes, above the system's limit if this process may. Returns the bytes that the system
/// accounts for, which is twice the size it sets. Warns if that size is less than `wanted`.
int set_buffer(int socket, SocketBuffer buffer, int wanted, core::Log& log);

/// Sets or clears don't-fragment for later datagrams. With it, the system neither fragments them nor uses its own
/// path-MTU estimates, and refuses datagrams longer than the interface's MTU with EMSGSIZE. False: the system refuses.
bool set_dont_fragment(int socket, sa_family_t family, bool on) noexcept;

/// Whether the system splits a long buffer into datagrams (UDP_SEGMENT).
bool can_segment(int socket) noexcept;
/// Lets the system join datagrams of one sender in one buffer (UDP_GRO). False: it cannot.
bool set_coalescing(int socket) noexcept;
/// Lets the system report how many datagrams found no room in the receive buffer (SO_RXQ_OVFL).
bool set_overflow_report(int socket) noexcept;

}  // namespace aqueduct::conduits::udp
