#pragma once

#include "conduits/udp/carrier/address.hpp"

#include <cstddef>
#include <utility>

namespace aqueduct::perf {

using conduits::udp::Address;

/// A non-blocking socket of the system's, for comparators. Its calls throw Failure.
class BareSocket {
 public:
  /// `type` is SOCK_DGRAM or SOCK_STREAM; bound there, to a port that the system chooses.
  BareSocket(const Address& at, int type);
  ~BareSocket();
  BareSocket(BareSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  BareSocket& operator=(BareSocket&&) = delete;

  int get() const noexcept { return fd_; }
  /// Where it is bound.
  Address address() const;
  /// Streams: returns when it is connected.
  void connect(const Address& to);
  void listen();
  /// The first that connects to this one, which listens.
  BareSocket accept();
  /// Whether the system took it.
  bool set(int level, int option, int value) noexcept;
  /// What the system says; -1 if it does not.
  int value(int level, int option) const noexcept;

 private:
  explicit BareSocket(int fd) noexcept : fd_(fd) {}
  int fd_;
};

}  // namespace aqueduct::perf
