#pragma once

#include "coll/schedule/step.hpp"
#include "core/redirect.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace aqueduct::coll {

// A block that goes through scratch is copied to the output when it has arrived. If a conduit of this rank stores what peers
// put, and the call is made here before the block arrives, the conduit can store the block in the output right away
// (core::NativeRedirects). Peers see no difference.

inline constexpr std::uint32_t kMostRedirects = 8;  // of a run; chosen
inline constexpr std::uint64_t kLeastRedirected =
    4 * 1024;  // chosen: two passes through a lock are little beside the copy

/// Steps of one member that do nothing but copy from scratch to the output what peers have put: no other step of the member
/// touches either range. `bytes` of the step times its runs lie one after the other on both sides.
struct RedirectedSteps {
  std::array<std::uint16_t, kMostRedirects> index{};
  std::uint32_t count = 0;
  bool reads_input = false;  ///< a step of the member reads its input, which may overlap the output
};

/// Finds them. Requires: no peer gets bytes from this member.
RedirectedSteps find_redirected(std::span<const Step> steps) noexcept;

/// Those that the conduit knows, of one run.
struct RunRedirects {
  struct One {
    const Step* step = nullptr;  ///< null: the conduit does not know it
    core::Redirect redirect;
  };
  std::array<One, kMostRedirects> all;
  std::uint32_t open = 0;
};

}  // namespace aqueduct::coll
