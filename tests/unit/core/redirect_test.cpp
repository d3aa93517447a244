#include "core/redirect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace aqueduct::core {
namespace {

using Buffer = std::vector<std::byte>;
using Range = std::pair<std::size_t, std::size_t>;  // offset, bytes

constexpr SegmentId kSegment = 3;
constexpr std::size_t kOffset = 100;  // of the range in the segment
constexpr std::size_t kRange = 1000;

Buffer numbered(std::size_t bytes) {
  Buffer out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 256);
  return out;
}

/// Stores a put as a conduit does.
void store(Redirect& redirect, Buffer& segment, const Buffer& all, Range what) {
  std::byte* to = redirect.place_of(kSegment, kOffset + what.first, what.second);
  if (to == nullptr) to = segment.data() + kOffset + what.first;
  std::copy_n(all.data() + what.first, what.second, to);
}

TEST(Redirect, TakesPutsInsideItsRangeAlone) {
  Buffer segment(kOffset + kRange), out(kRange);
  Redirect redirect;
  redirect.set(kSegment, kOffset, segment.data() + kOffset, kRange, out.data());
  EXPECT_EQ(redirect.place_of(kSegment, kOffset - 1, 10), nullptr);
  EXPECT_EQ(redirect.place_of(kSegment, kOffset + kRange - 9, 10), nullptr);
  EXPECT_EQ(redirect.place_of(kSegment, kOffset + kRange + 1, 1), nullptr);
  EXPECT_EQ(redirect.place_of(kSegment, UINT64_MAX - 3, 10), nullptr);
  EXPECT_EQ(redirect.place_of(kSegment + 1, kOffset, 10), nullptr);
  EXPECT_EQ(redirect.place_of(kSegment, kOffset + kRange - 10, 10), out.data() + kRange - 10);
  EXPECT_EQ(redirect.take_rest(), kRange - 10) << "what it has refused is in the segment";
}

TEST(Redirect, ASecondUseKnowsNothingOfTheFirst) {
  Buffer segment(kOffset + kRange, std::byte{1}), out(kRange);
  Redirect redirect;
  redirect.set(kSegment, kOffset, segment.data() + kOffset, kRange, out.data());
  EXPECT_NE(redirect.place_of(kSegment, kOffset, kRange), nullptr);
  EXPECT_EQ(redirect.take_rest(), 0u);
  redirect.set(kSegment, kOffset, segment.data() + kOffset, kRange, out.data());
  EXPECT_EQ(redirect.take_rest(), kRange);
  EXPECT_EQ(out, Buffer(kRange, std::byte{1}));
}

// Pieces of random lengths in random order, of which the first ones come before the redirect, and of which more may be left
// apart than a redirect can note.
TEST(Redirect, HasAllBytesInTheEndWhateverTheOrder) {
  const Buffer all = numbered(kRange);
  std::uint64_t stored_at_once = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Range> pieces;
    const std::size_t longest = 1 + random() % kRange;
    for (std::size_t at = 0; at < kRange;) {
      const std::size_t bytes = std::min<std::size_t>(1 + random() % longest, kRange - at);
      pieces.emplace_back(at, bytes);
      at += bytes;
    }
    if (seed % 3 != 0) std::shuffle(pieces.begin(), pieces.end(), random);
    const std::size_t early = random() % (pieces.size() + 1);
    Buffer segment(kOffset + kRange), out(kRange);
    Redirect none;  // knows no range
    for (std::size_t i = 0; i < early; ++i) store(none, segment, all, pieces[i]);
    Redirect redirect;
    redirect.set(kSegment, kOffset, segment.data() + kOffset, kRange, out.data());
    for (std::size_t i = early; i < pieces.size(); ++i) store(redirect, segment, all, pieces[i]);
    stored_at_once += kRange - redirect.take_rest();
    ASSERT_EQ(out, all) << "seed " << seed;
  }
  EXPECT_GT(stored_at_once, 0u);
}

}  // namespace
}  // namespace aqueduct::core
