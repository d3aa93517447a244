// Operations on a lost peer that UCX does not watch: none ends too early, and their room is not missing for long.

#include "conduits/ucx/tests/ucx_party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::ucx {
namespace {

using core::Post;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kLossWord = 42;

/// Three ranks of one host. All but rank 0 have registered memory, and rank 0 has imported their keys.
class UcxUnwatched : public ::testing::Test {
 protected:
  UcxUnwatched() : party_(3, "posix,self") {}
  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    for (Rank rank = 1; rank < 3; ++rank) {
      memory_[rank].assign(kBytes, std::byte{7});
      auto key = party_[rank].rma()->register_segment(0, memory_[rank]);
      ASSERT_TRUE(key);
      const auto handle = party_[0].rma()->import_key(rank, *key);
      ASSERT_TRUE(handle);
      keys_[rank] = *handle;
    }
  }
  Post get(Rank from, std::vector<std::byte>& to) {
    return party_[0].rma()->get(from, keys_[from], 0, to, ++token_);
  }
  /// Posts as many gets as there is room for.
  std::size_t get_all(Rank from, std::vector<std::byte>& to) {
    std::size_t posted = 0;
    while (get(from, to).kind == Post::Kind::posted) ++posted;
    return posted;
  }

  static constexpr std::size_t kBytes = 4096;
  UcxParty party_;
  std::vector<std::byte> memory_[3];
  std::uint64_t keys_[3] = {};
  core::Token token_ = 0;
};

TEST_F(UcxUnwatched, GetsOfALostPeerAreNotOverWhileTheirBytesMayStillCome) {
  std::vector<std::byte> mine(kBytes);
  ASSERT_EQ(get(1, mine).kind, Post::Kind::posted);
  party_[0].forget(1);
  for (int i = 0; i < 1000; ++i) party_.poll(0);
  EXPECT_THAT(party_.inbox(0).losses, ElementsAre(1));
  ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == 1; }));
  const auto at_the_end = mine;
  for (int i = 0; i < 1000; ++i) {
    party_.poll(1);
    party_.poll(0);
  }
  EXPECT_EQ(mine, at_the_end) << "written to after it was over";
}

TEST_F(UcxUnwatched, PeersThatAnswerNothingLeaveRoomForOthersAndAreMadeUpFor) {
  std::vector<std::byte> mine(kBytes);
  const std::size_t room = get_all(1, mine);
  EXPECT_EQ(room, static_cast<std::size_t>(Config().number("ucx_operations")) / 2);
  ASSERT_EQ(get(2, mine).kind, Post::Kind::posted) << "one takes all";
  party_.leave(1);
  party_[0].forget(1);
  ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == room + 1; }));
  EXPECT_EQ(std::ranges::count_if(party_.inbox(0).ends, [](auto& end) { return end.second.ok(); }), 1);
  EXPECT_EQ(get_all(2, mine), room);
  ASSERT_TRUE(party_.poll_until([&] { return party_.inbox(0).ends.size() == 2 * room + 1; }));
}

TEST(UcxLoss, ComesAfterAllThatThePeerHadSent) {
  constexpr std::size_t kPackets = 300;  // more than one round of UCX takes from a socket
  UcxParty party(2, "tcp,self");
  ASSERT_TRUE(party.complete());
  const std::vector<std::byte> long_one(2000, std::byte{5});
  const auto word = loop::bytes_of_value(kLossWord);
  ASSERT_NE(party[1].send(0, word, long_one, 1).kind, Post::Kind::failed);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).packets.size() == 1; }));  // connected
  for (std::size_t sent = 1; sent < kPackets;) {
    if (party[1].send(0, word, long_one, 1).kind != Post::Kind::retry) ++sent;
    party.poll(1);
  }
  for (int i = 0; i < 1000; ++i) party.poll(1);  // until all of it is in the socket
  party[0].forget(1);
  while (party.inbox(0).losses.empty()) party.poll(0);
  EXPECT_EQ(party.inbox(0).packets.size(), kPackets);
}

TEST(UcxLoss, OfOneThatCannotBeReachedIsToldOnce) {
  UcxProcess here(2, "tcp,self");
  UcxProcess there(2, "posix,self");
  ASSERT_TRUE(here.network() != nullptr && there.network() != nullptr);
  auto a = here.network()->open(0);
  auto b = there.network()->open(1);
  ASSERT_TRUE(a && b);
  const std::vector<std::vector<std::byte>> addresses{(*a)->address(), (*b)->address()};
  ASSERT_TRUE((*a)->connect(addresses));
  const auto word = loop::bytes_of_value(kLossWord);
  ASSERT_EQ((*a)->send(1, word, {}, 0).why, ErrorCode::network_failed);
  EXPECT_THAT(here.lines(), ElementsAre(HasSubstr("Both need a transport in common")));
  loop::Recorder inbox;
  for (int i = 0; i < 3; ++i) (*a)->poll(inbox);
  EXPECT_THAT(inbox.losses, ElementsAre(1));
  EXPECT_EQ((*a)->send(1, word, {}, 0).why, ErrorCode::peer_lost);
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
