#pragma once

#include <aqueduct/coll.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::coll {

struct KnownCall;
struct Method;

/// What a team keeps of its latest calls: a call that is like one of them need not be checked or chosen for again.
struct LatestCalls {
  static constexpr std::size_t kMethods = 16;
  static constexpr std::size_t kKnown = 16;  // chosen, as kMethods
  using Known = std::array<KnownCall*, kKnown>;
  static constexpr Known kNoneYet{};

  std::array<Method*, kMethods> methods{};  ///< [hash of the shape]; null: none yet
  Known known{};                            ///< [place_of]; null: none yet

  static std::size_t place_of(const aqueduct::detail::CollCall& call) noexcept {
    // Of the first word, which is loaded for the comparison anyhow, the operation counts.
    std::uint64_t first;
    std::memcpy(&first, static_cast<const void*>(&call), sizeof first);
    static_assert(std::endian::native == std::endian::little && kKnown <= 256);
    return (first + call.root + (call.in.bytes + call.out.bytes) / 8) % kKnown;
  }
};

}  // namespace aqueduct::coll
