#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal.hpp>

#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ofi {

/// In front of every packet and signal, and of nothing, which asks a peer to keep looking (poll_hints.hpp). What travels is
/// a multiple of 8 bytes long, so that packets which the provider puts one behind the other all start where a word may.
struct PacketHead {
  std::uint32_t from = 0;
  std::uint32_t bytes = 0;  ///< that follow; the highest bit is set but for packets
};
static_assert(sizeof(PacketHead) == 8);

inline constexpr std::uint32_t kIsSignal = 0x8000'0000u;

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

/// A signal in the 8 bytes that a provider can carry beside a put: rank and slot of 24 bits, an amount of 16.
struct Announcement {
  Rank from = 0;
  Signal signal;
};

/// Nothing if one of its numbers is too large for that.
constexpr std::optional<std::uint64_t> encode(const Announcement& what) noexcept {
  constexpr std::uint64_t kMost24 = (1u << 24) - 1;
  if (what.from > kMost24 || what.signal.slot > kMost24 || what.signal.add > 0xffff) return std::nullopt;
  return (std::uint64_t{what.from} << 40) | (std::uint64_t{what.signal.slot} << 16) | what.signal.add;
}

constexpr Announcement decode(std::uint64_t data) noexcept {
  return {static_cast<Rank>(data >> 40), {static_cast<SignalSlot>((data >> 16) & 0xff'ffff), data & 0xffff}};
}

}  // namespace aqueduct::conduits::ofi
