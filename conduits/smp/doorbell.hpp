#pragma once

#include <cstdint>

namespace aqueduct::conduits::smp {

/// A socket that neighbours ring. The system names it: five hexadecimal digits that no other socket of this network
/// namespace has (unix(7), autobind), so that the name is a number of 20 bits.
struct Doorbell {
  int socket = -1;  ///< -1: the system gave none
  std::uint32_t name = 0;
};

Doorbell make_doorbell() noexcept;
/// Makes it readable. Nothing happens if nobody has that name, or there is no descriptor left to ring with.
void ring_doorbell(std::uint32_t name) noexcept;
/// Forgets the rings so far.
void silence_doorbell(int socket) noexcept;

}  // namespace aqueduct::conduits::smp
