#pragma once

#include <cstdint>

namespace aqueduct::conduits::smp {

/// A datagram socket to which neighbours send, to wake its rank. The system chooses its name: five hexadecimal digits
/// that are unique in the network namespace (unix(7), autobind). So a name is a 20-bit number.
struct Doorbell {
  int socket = -1;  ///< -1: the socket could not be made
  std::uint32_t name = 0;
};

Doorbell make_doorbell() noexcept;
/// Makes the doorbell of that name readable. Does nothing if there is none, or if no descriptor is left to send from.
void ring_doorbell(std::uint32_t name) noexcept;
/// Discards the rings so far.
void silence_doorbell(int socket) noexcept;

}  // namespace aqueduct::conduits::smp
