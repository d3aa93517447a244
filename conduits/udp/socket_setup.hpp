#pragma once

#include <aqueduct/status.hpp>

#include "conduits/udp/address.hpp"
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

/// A nonblocking UDP socket bound to `address`; port 0 takes any that is free.
///
/// Errors: network_failed, after a line in the log that says what is in the way and what to try.
Result<Descriptor> make_bound_socket(const Address& address, core::Log& log);

/// What a socket is bound to. Empty on failure.
Address local_address(int socket) noexcept;

/// Which of a socket's two buffers.
enum class Buffer { send, receive };

/// Asks for a buffer of so many bytes, beyond the system's limit where this process may; returns the bytes
/// that the system accounts with, which is twice what it calls the size. Warns when it is less than was
/// wanted.
int set_buffer(int socket, Buffer buffer, int wanted, core::Log& log);

/// Whether datagrams carry the don't-fragment mark. With it, the system neither cuts them nor believes in
/// path MTUs that it has heard of: what is longer than the interface's MTU is refused with EMSGSIZE.
bool set_dont_fragment(int socket, sa_family_t family, bool on) noexcept;

/// Whether the system cuts a long buffer into datagrams (UDP_SEGMENT).
bool can_segment(int socket) noexcept;
/// Asks that datagrams of one sender arrive together in one buffer (UDP_GRO). False: it cannot.
bool set_coalescing(int socket) noexcept;
/// Asks to be told how many datagrams found no room in the receive buffer (SO_RXQ_OVFL).
bool set_overflow_report(int socket) noexcept;

}  // namespace aqueduct::conduits::udp
