#include "conduits/udp/protocol/received_packets.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::conduits::udp {

ReceivedPackets::Verdict ReceivedPackets::note_out_of_order(std::uint64_t number) noexcept {
  const Verdict verdict = check(number);
  if (verdict != Verdict::fresh) return verdict;
  words_[word_of(number)] |= std::uint64_t{1} << number % kBits;
  end_ = std::max(end_, number + 1);
  if (number == next_) advance();
  return Verdict::fresh;
}

// Moves next_ past the numbers that have arrived and clears their bits, a word at a time. Terminates even when all
// bits are set: the first word's upper part is clear again when the ring wraps around.
void ReceivedPackets::advance() noexcept {
  for (;;) {
    const auto from = static_cast<int>(next_ % kBits);
    std::uint64_t& word = words_[word_of(next_)];
    // The shift fills with zeros, so the run ends at the word's end.
    const int run = std::countr_one(word >> from);
    if (run == 0) return;
    word &= ~(~std::uint64_t{0} >> (64 - run) << from);
    next_ += static_cast<std::uint64_t>(run);
    if (run < 64 - from) return;
  }
}

// One more than the highest number in [next_, below) that has (not) arrived; next_ if there is none.
std::uint64_t ReceivedPackets::end_of_last(bool arrived, std::uint64_t below) const noexcept {
  while (below > next_) {
    const std::uint64_t base = (below - 1) / kBits * kBits;
    std::uint64_t word = words_[word_of(base)];
    if (!arrived) word = ~word;
    // The lowest and the highest number may share a word of the ring, so each is masked to its own part.
    word &= ~std::uint64_t{0} >> (kBits - (below - base));
    if (base < next_) word &= ~std::uint64_t{0} << (next_ - base);
    if (word != 0) return base + kBits - static_cast<std::uint64_t>(std::countl_zero(word));
    below = base;
  }
  return next_;
}

std::size_t ReceivedPackets::ranges(std::span<NumberRange> into) const noexcept {
  // Written from the highest range down, so that a short list has the newest; then moved to the front.
  std::size_t free = into.size();
  for (std::uint64_t end = end_; free > 0;) {
    end = end_of_last(true, end);
    if (end == next_) break;
    const std::uint64_t first = end_of_last(false, end);
    into[--free] = {first, end};
    end = first;
  }
  std::copy(into.begin() + static_cast<std::ptrdiff_t>(free), into.end(), into.begin());
  return into.size() - free;
}

}  // namespace aqueduct::conduits::udp
