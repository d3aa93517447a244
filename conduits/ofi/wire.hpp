#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>

#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ofi {

/// Starts every packet and signal. Alone, with the signal bit, it is a poll hint (poll_hints.hpp). A message's length is a
/// multiple of 8 bytes, so that packets which the provider places one after the other are all aligned.
struct PacketHead {
  std::uint32_t from = 0;
  std::uint32_t bytes = 0;  ///< that follow; the highest bit is set in signals and poll hints
};
static_assert(sizeof(PacketHead) == 8);

inline constexpr std::uint32_t kIsSignal = 0x8000'0000u;
/// Of a ping (pings.hpp), which says nothing: a signal that is shorter than one.
inline constexpr std::uint32_t kPing = kIsSignal | 8u;
static_assert(sizeof(Signal) > 8);

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

/// A signal in the 8 bytes that a put can carry to the target's completion queue: 24 bits of rank, 24 of slot, 16 of amount.
struct CqData {
  Rank from = 0;
  Signal signal;
};

/// Nothing if one of its numbers does not fit.
constexpr std::optional<std::uint64_t> encode(const CqData& what) noexcept {
  constexpr std::uint64_t kMost24 = (1u << 24) - 1;
  if (what.from > kMost24 || what.signal.slot > kMost24 || what.signal.add > 0xffff) return std::nullopt;
  return (std::uint64_t{what.from} << 40) | (std::uint64_t{what.signal.slot} << 16) | what.signal.add;
}

constexpr CqData decode(std::uint64_t data) noexcept {
  return {static_cast<Rank>(data >> 40), {static_cast<SignalSlot>((data >> 16) & 0xff'ffff), data & 0xffff}};
}

}  // namespace aqueduct::conduits::ofi
