#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// The 64-bit id of a work request, which its completion returns: what kind of request it was, and which one.
struct WorkId {
  enum class Kind : std::uint64_t { request, receive, datagram_receive, datagram_send };

  static constexpr std::uint64_t request(Rank peer, std::uint32_t number) noexcept {
    return (std::uint64_t{peer} << 32) | number;
  }
  /// `index` has at most 62 bits.
  static constexpr std::uint64_t of(Kind kind, std::uint64_t index) noexcept {
    return (static_cast<std::uint64_t>(kind) << 62) | index;
  }

  static constexpr Kind kind(std::uint64_t id) noexcept { return static_cast<Kind>(id >> 62); }
  static constexpr Rank peer(std::uint64_t id) noexcept {
    return static_cast<Rank>((id >> 32) & 0x3fff'ffff);
  }
  static constexpr std::uint32_t number(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id); }
  static constexpr std::uint64_t index(std::uint64_t id) noexcept { return id & ~(std::uint64_t{3} << 62); }
};

}  // namespace aqueduct::conduits::ibv
