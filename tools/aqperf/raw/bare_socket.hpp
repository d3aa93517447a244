#pragma once

#include "conduits/udp/carrier/address.hpp"

#include <cstddef>
#include <utility>

namespace aqueduct::perf {

using conduits::udp::Address;

/// A non-blocking socket for comparators. Its functions throw Failure.
class BareSocket {
 public:
  /// `type` is SOCK_DGRAM or SOCK_STREAM. Bound to `at`, with a port that the system chooses.
  BareSocket(const Address& at, int type);
  ~BareSocket();
  BareSocket(BareSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  BareSocket& operator=(BareSocket&&) = delete;

  int get() const noexcept { return fd_; }
  /// The address that it is bound to.
  Address address() const;
  /// For streams: returns once connected.
  void connect(const Address& to);
  void listen();
  /// Listens, and returns the first connection.
  BareSocket accept();
  /// Sets a socket option; whether the system accepted it.
  bool set(int level, int option, int value) noexcept;
  /// A socket option's value; -1 if the system does not tell.
  int value(int level, int option) const noexcept;

 private:
  explicit BareSocket(int fd) noexcept : fd_(fd) {}
  int fd_;
};

}  // namespace aqueduct::perf
