#include "core/pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>
#include <vector>

namespace aqueduct::core {
namespace {

using Walked = std::tuple<std::uint64_t, std::ptrdiff_t, std::size_t>;  // offset there, place here, bytes

std::vector<Walked> walked(const std::vector<RemotePiece>& remote, const std::vector<Bytes>& local,
                           const std::byte* base) {
  std::vector<Walked> parts;
  walk_pieces(std::span(remote), std::span(local), [&](std::uint64_t offset, Bytes part) {
    parts.emplace_back(offset, part.data() - base, part.size());
  });
  return parts;
}

TEST(Pieces, AreWalkedWhereverEitherListHasACut) {
  const std::vector<std::byte> memory(100);
  const auto piece = [&](std::size_t at, std::size_t bytes) { return Bytes(memory).subspan(at, bytes); };
  EXPECT_THAT(walked({{1000, 10}}, {piece(0, 10)}, memory.data()), testing::ElementsAre(Walked{1000, 0, 10}));
  EXPECT_THAT(walked({{1000, 10}, {5, 3}}, {piece(20, 4), piece(0, 9)}, memory.data()),
              testing::ElementsAre(Walked{1000, 20, 4}, Walked{1004, 0, 6}, Walked{5, 6, 3}));
  EXPECT_THAT(walked({{7, 4}, {3, 4}}, {piece(1, 4), piece(9, 4)}, memory.data()),
              testing::ElementsAre(Walked{7, 1, 4}, Walked{3, 9, 4}));
}

TEST(Pieces, ThatAConduitDoesNotTakeAreNamed) {
  const std::vector<std::byte> memory(100);
  const Bytes all(memory);
  const PieceLimits limits{2, 2, 50};
  const auto check = [&](std::vector<RemotePiece> remote, std::vector<Bytes> local) {
    return check_pieces(std::span<const RemotePiece>(remote), std::span<const Bytes>(local), limits);
  };
  EXPECT_EQ(check({{0, 25}, {99, 25}}, {all.first(50)}), ErrorCode::ok);
  EXPECT_EQ(check({{0, 25}, {99, 26}}, {all.first(51)}), ErrorCode::too_large);
  EXPECT_EQ(check({{0, 25}, {99, SIZE_MAX}}, {all.first(24)}), ErrorCode::too_large)
      << "the sum wraps around";
  EXPECT_EQ(check({{0, 1}, {1, 1}, {2, 1}}, {all.first(3)}), ErrorCode::too_large);
  EXPECT_EQ(check({{0, 3}}, {all.first(1), all.first(1), all.first(1)}), ErrorCode::too_large);
  EXPECT_EQ(check({{0, 3}}, {all.first(2)}), ErrorCode::invalid_argument);
  EXPECT_EQ(check({{0, 3}, {9, 0}}, {all.first(3)}), ErrorCode::invalid_argument);
  EXPECT_EQ(check({{0, 3}}, {all.first(3), all.first(0)}), ErrorCode::invalid_argument);
  EXPECT_EQ(check({}, {}), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace aqueduct::core
