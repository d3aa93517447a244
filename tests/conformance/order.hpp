#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/order.hpp>

#include <cstdint>

namespace aqueduct::conformance {

// The thread sanitizer takes only words for atomic, so with it all blocks are words.
inline constexpr bool kWords = detail::kThreadSanitizer;

/// Where a later write goes that a target polls for.
inline constexpr std::uint64_t kFlag = 40'000;

struct Number {
  std::uint64_t round;
};

/// A word of my own segment, read as a whole.
inline std::uint64_t word_at(Endpoint& me, std::uint64_t offset) {
  std::uint64_t word = 0;
  detail::copy_word(&word, me.segment().data() + offset, sizeof word);
  return word;
}

}  // namespace aqueduct::conformance
