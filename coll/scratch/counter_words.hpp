#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// This member's counters of a team, which peers raise and nobody resets. Each counts from what it held when its last
/// user was done with it. Peers only add, so they need not know that value.
class CounterWords {
 public:
  /// The counters begin at what they hold now. Requires: no peer raises them yet. So a team makes this before the exchange
  /// after which its members may call operations, and after all raises of the words' former team have arrived.
  explicit CounterWords(std::span<std::uint64_t> words) : words_(words), base_(words.begin(), words.end()) {}
  /// The counters begin at 0. Requires: the words were 0 when the place was offered to the other members.
  ///
  /// A member makes its TeamScratch after the exchange in which it has offered the place, because the sizes depend on all
  /// offers. By then a faster peer may have begun an operation, and may have raised a counter here. What the word holds
  /// now would hide that raise; 0 does not.
  static CounterWords zeroed(std::span<std::uint64_t> words) { return {words, Zeroed{}}; }

  /// How much was added.
  std::uint64_t count(std::uint32_t counter) const noexcept { return word(counter) - base_[counter]; }
  /// Counts from now on. Requires: all that the last user expects has arrived.
  void begin_again(std::uint32_t first, std::uint32_t count) noexcept {
    const std::uint32_t end = first + count;
    for (std::uint32_t counter = first; counter != end; ++counter) base_[counter] = word(counter);
  }

 private:
  struct Zeroed {};
  CounterWords(std::span<std::uint64_t> words, Zeroed) : words_(words), base_(words.size()) {}

  std::uint64_t word(std::uint32_t counter) const noexcept {
    return std::atomic_ref(words_[counter]).load(std::memory_order_acquire);
  }

  std::span<std::uint64_t> words_;
  std::vector<std::uint64_t> base_;
};

}  // namespace aqueduct::coll
