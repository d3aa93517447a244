#include <aqueduct/copy_bytes.hpp>

#include "tests/support/stepped.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace aqueduct::detail {
namespace {

using support::Stepped;

/// Hides a size from the compiler.
std::size_t at_run_time(std::size_t bytes) {
  volatile std::size_t hidden = bytes;
  return hidden;
}

TEST(CopyBytes, StoreAWordOnceThoughItsSizeIsKnownAtRunTimeOnly) {
  if (!Stepped::possible()) GTEST_SKIP() << "this build or machine does not step through instructions";
  const std::uint64_t value = 0x0807060504030201;
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    std::uint64_t place = 0;
    const std::size_t hidden = at_run_time(bytes);
    EXPECT_EQ(Stepped::count_stores(&place, &value, bytes, [&] { copy_bytes(&place, &value, hidden); }), 1)
        << bytes << " bytes";
    place = 0;
    EXPECT_EQ(Stepped::count_stores(&place, &value, bytes, [&] { move_bytes(&place, &value, hidden); }), 1)
        << bytes << " bytes, moved";
  }
}

TEST(CopyBytes, LoadAWordOnce) {
  if (!Stepped::possible()) GTEST_SKIP() << "this build or machine does not step through instructions";
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    // The other side changes all bytes of the word after every instruction: a copy must not mix bytes of two moments.
    std::uint64_t changing = 0;
    std::uint64_t copy = 0x55;
    const std::size_t hidden = at_run_time(bytes);
    Stepped::run([&] { copy_bytes(&copy, &changing, hidden); }, [&] { changing = ~changing; });
    const auto* const found = reinterpret_cast<const unsigned char*>(&copy);
    for (std::size_t i = 1; i < bytes; ++i) EXPECT_EQ(found[i], found[0]) << bytes << " bytes";
  }
}

TEST(CopyBytes, StoreAndLoadAValueOnce) {
  if (!Stepped::possible()) GTEST_SKIP() << "this build or machine does not step through instructions";
  struct Pair {
    std::uint16_t a, b;
  };
  const Pair value{0x1234, 0x5678};
  alignas(8) std::byte place[8] = {};
  EXPECT_EQ(Stepped::count_stores(place, &value, sizeof value, [&] { store_value(place, value); }), 1);
  Pair back{};
  store_value(place, value);
  load_value(back, place);
  EXPECT_EQ(back.a, value.a);
  EXPECT_EQ(back.b, value.b);
}

TEST(CopyBytes, AnyNumberAtAnyAddress) {
  std::vector<unsigned char> from(kMostMiddling + 100);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  std::vector<std::size_t> sizes(600);
  std::iota(sizes.begin(), sizes.end(), 0);
  sizes.insert(sizes.end(), {2047, 2048, 2111, 2112, 12288, 12289, 16384, 16385, 65541, 524289, kMostMiddling,
                             kMostMiddling + 1});
  for (const std::size_t bytes : sizes) {
    for (const std::size_t shift : {0, 1, 3}) {
      std::vector<unsigned char> to(bytes + 100, 0);
      copy_bytes(to.data() + shift, from.data() + 2 * shift, bytes);
      std::vector<unsigned char> wanted(to.size(), 0);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(2 * shift), bytes,
                  wanted.begin() + static_cast<std::ptrdiff_t>(shift));
      EXPECT_EQ(to, wanted) << bytes << " bytes, shifted by " << shift;
      std::vector<unsigned char> within(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes + 1));
      move_bytes(within.data() + 1, within.data(), bytes);
      EXPECT_TRUE(
          std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes), within.begin() + 1))
          << bytes << " bytes onto themselves";
    }
  }
  copy_bytes(nullptr, nullptr, at_run_time(0));
  move_bytes(nullptr, nullptr, at_run_time(0));
}

TEST(CopyBytes, ValuesOfNoWordsSize) {
  const std::array<unsigned char, 5> value{1, 2, 3, 4, 5};
  std::byte place[8] = {};
  store_value(place, value);
  std::array<unsigned char, 5> back{};
  load_value(back, place);
  EXPECT_EQ(back, value);
  EXPECT_EQ(place[5], std::byte{0});
}

}  // namespace
}  // namespace aqueduct::detail
