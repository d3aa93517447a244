// Which local memory is registered, with a network that only counts.

#include "core/local_registrations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::core {
namespace {

constexpr std::size_t kPiece = 1000;

/// A network that counts pinned bytes and records the order in which registrations end.
struct Card {
  std::size_t pinned = 0;
  std::vector<std::size_t> ended;  ///< pieces, by number
  int refusal = 0;
};

struct Unpin {
  Card* card = nullptr;
  std::size_t bytes = 0;
  void operator()(const std::size_t* piece) const {
    card->pinned -= bytes;
    card->ended.push_back(*piece);
    delete piece;
  }
};
using Region = std::unique_ptr<std::size_t, Unpin>;
using Cache = LocalRegistrations<Region>;

class CoreLocalRegistrations : public testing::Test {
 protected:
  Bytes piece(std::size_t i, std::size_t count = 1) const {
    return Bytes(memory).subspan(kPiece * i, kPiece * count);
  }
  Cache::Registration* borrow(Cache& cache, Bytes buffer, LocalUse use = LocalUse::write) {
    error = 0;
    return cache.borrow(buffer, use, error, [this](MutableBytes part, LocalUse of, int& why) -> Region {
      if (of == LocalUse::write && part.data() < memory.data() + kPiece * read_only) {
        why = -EFAULT;
        return nullptr;
      }
      if (card.refusal != 0) {
        why = card.refusal;
        return nullptr;
      }
      card.pinned += part.size();
      const auto number = static_cast<std::size_t>(part.data() - memory.data()) / kPiece;
      return {new std::size_t(number), Unpin{&card, part.size()}};
    });
  }
  /// A transfer that begins and ends.
  bool use(Cache& cache, Bytes buffer) {
    auto* const borrowed = borrow(cache, buffer);
    if (borrowed != nullptr) cache.give_back(*borrowed);
    return borrowed != nullptr;
  }

  std::vector<std::byte> memory = std::vector<std::byte>(100 * kPiece);
  std::size_t read_only = 0;  // so many of the first pieces cannot be written
  Card card;
  int error = 0;
};

TEST_F(CoreLocalRegistrations, OfMemoryThatCannotBeWrittenServeNoGet) {
  read_only = 2;
  Cache cache(SIZE_MAX);
  auto* const source = borrow(cache, piece(0, 4), LocalUse::read);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(borrow(cache, piece(1), LocalUse::read), source);
  EXPECT_EQ(borrow(cache, piece(1)), nullptr);
  EXPECT_EQ(error, -EFAULT);
  auto* const target = borrow(cache, piece(3));
  ASSERT_NE(target, nullptr);
  EXPECT_NE(target, source) << "which the network may not write to";
  cache.give_back(*source);
  auto* const again = borrow(cache, piece(3), LocalUse::read);
  EXPECT_NE(again, nullptr);
  for (auto* const one : {source, target, again}) cache.give_back(*one);
}

TEST_F(CoreLocalRegistrations, EndWithTheirTransferUnlessTheyMayBeKept) {
  Cache cache(0);
  ASSERT_TRUE(use(cache, piece(3)));
  EXPECT_EQ(card.pinned, 0u);
}

TEST_F(CoreLocalRegistrations, ThatAreKeptAreUsedAgainAndGoTheLongestUnusedFirst) {
  Cache cache(3 * kPiece);
  for (const std::size_t i : {0u, 1u, 2u, 0u}) ASSERT_TRUE(use(cache, piece(i)));
  EXPECT_EQ(card.pinned, 3 * kPiece) << "nothing goes before there is need";
  ASSERT_TRUE(use(cache, piece(3)));
  ASSERT_TRUE(use(cache, piece(4)));
  EXPECT_THAT(card.ended, testing::ElementsAre(1u, 2u)) << "0 has been used since";
}

TEST_F(CoreLocalRegistrations, OfAllTransfersAreNeverMoreThanMayBe) {
  Cache cache(100 * kPiece, 4 * kPiece);
  for (std::size_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(use(cache, piece(i, 1 + i % 4))) << i;
    EXPECT_LE(card.pinned, 4 * kPiece);
  }
}

TEST_F(CoreLocalRegistrations, WaitForRoomAndGoOnWhenThereIsSome) {
  Cache cache(0, 4 * kPiece);
  auto* const first = borrow(cache, piece(0, 3));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(borrow(cache, piece(10, 2)), nullptr);
  EXPECT_EQ(error, -EAGAIN);
  auto* const inside = borrow(cache, piece(1));
  EXPECT_EQ(inside, first) << "which takes no room";
  cache.give_back(*first);
  EXPECT_EQ(borrow(cache, piece(10, 2)), nullptr) << "the other still uses it";
  cache.give_back(*inside);
  EXPECT_TRUE(use(cache, piece(10, 2)));
}

TEST_F(CoreLocalRegistrations, DoNotEndKeptOnesForWhatHasNoRoomAnyway) {
  Cache cache(100 * kPiece, 4 * kPiece);
  ASSERT_TRUE(use(cache, piece(0, 4)));
  EXPECT_FALSE(use(cache, piece(20, 5)));
  EXPECT_EQ(error, -ENOMEM) << "which waiting does not mend";
  EXPECT_EQ(card.pinned, 4 * kPiece);
}

TEST_F(CoreLocalRegistrations, ThatTheNetworkRefusesAreWaitedForOnlyIfSomethingIsInUse) {
  Cache cache(100 * kPiece);
  auto* const first = borrow(cache, piece(0));
  ASSERT_TRUE(first != nullptr && use(cache, piece(1)));
  card.refusal = -ENOMEM;
  EXPECT_FALSE(use(cache, piece(2)));
  EXPECT_EQ(error, -EAGAIN);
  EXPECT_THAT(card.ended, testing::ElementsAre(1u)) << "what was idle went first";
  EXPECT_TRUE(cache.in_use());
  cache.give_back(*first);
  EXPECT_FALSE(use(cache, piece(2)));
  EXPECT_EQ(error, -ENOMEM);
  EXPECT_FALSE(cache.in_use());
}

TEST_F(CoreLocalRegistrations, OfMemoryThatEndsGoWithItEvenIfTheyMayBeKept) {
  Cache cache(100 * kPiece);
  ASSERT_TRUE(use(cache, piece(0)) && use(cache, piece(4, 3)) && use(cache, piece(9)));
  cache.invalidate(piece(1, 3));
  EXPECT_TRUE(card.ended.empty()) << "neighbours of the memory stay";
  cache.invalidate(piece(6, 3));
  EXPECT_THAT(card.ended, testing::ElementsAre(4u)) << "they overlap in one piece";
  EXPECT_EQ(card.pinned, 2 * kPiece);
  ASSERT_TRUE(use(cache, piece(4, 3)));
  EXPECT_EQ(card.pinned, 5 * kPiece) << "memory that comes to the same address is registered anew";
}

TEST_F(CoreLocalRegistrations, OfMemoryThatEndsUnderATransferEndWithTheTransfer) {
  Cache cache(100 * kPiece);
  auto* const used = borrow(cache, piece(2));
  ASSERT_NE(used, nullptr);
  cache.invalidate(piece(0, 10));
  EXPECT_EQ(card.pinned, kPiece) << "the transfer still uses it";
  auto* const other = borrow(cache, piece(2));
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, used) << "nobody else does";
  cache.give_back(*used);
  EXPECT_EQ(card.pinned, kPiece);
  cache.give_back(*other);
  EXPECT_EQ(card.pinned, kPiece) << "this one may be kept";
  EXPECT_FALSE(cache.in_use());
}

}  // namespace
}  // namespace aqueduct::core
