#include "conduits/loop/tests/party.hpp"
#include "conduits/loop/turns.hpp"
#include "tests/support/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using History = std::vector<std::vector<std::pair<Rank, std::string>>>;

constexpr Rank kTurnRanks = 4;
constexpr int kMessages = 50;

/// Every rank sends to every other rank. Returns what each rank received, in order.
History run(std::uint64_t seed, std::uint64_t* passed_over = nullptr) {
  LoopParty party(kTurnRanks, {.seed = seed, .queue = 8});
  std::atomic<Rank> satisfied{0};
  party.in_threads([&](Rank me) {
    std::vector<int> sent(kTurnRanks, 0);
    bool counted = false;
    while (satisfied.load() < kTurnRanks) {
      for (Rank peer = 0; peer < kTurnRanks; ++peer) {
        if (sent[peer] == kMessages) continue;
        if (party[me].send(peer, bytes_of_value(sent[peer]), {}, 0).kind == core::Post::Kind::done)
          ++sent[peer];
      }
      party.poll(me);
      if (!counted && party.inbox(me).packets.size() == kTurnRanks * kMessages) {
        counted = true;
        ++satisfied;
      }
    }
    party.close(me);  // otherwise the others would wait for it until kPatience
  });
  if (passed_over != nullptr) *passed_over = party.network().turns()->passed_over();
  History history;
  for (Rank rank = 0; rank < kTurnRanks; ++rank) history.push_back(party.inbox(rank).packets);
  return history;
}

/// A run in which no rank was passed over. A busy machine may need several attempts.
History run_undisturbed(std::uint64_t seed) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::uint64_t passed_over = 0;
    History history = run(seed, &passed_over);
    if (passed_over == 0) return history;
  }
  ADD_FAILURE() << "in 20 attempts some rank always lost its turn";
  return {};
}

TEST(Turns, RepeatARunOfSeveralThreadsUnderTheSameSeed) {
  const History first = run_undisturbed(17);
  EXPECT_EQ(first, run_undisturbed(17));
  EXPECT_NE(first, run_undisturbed(18));
}

TEST(Turns, DeliverEveryPacketOnceInWhateverOrder) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (auto received : run(seed)) {
      std::sort(received.begin(), received.end());
      EXPECT_EQ(std::unique(received.begin(), received.end()), received.end()) << "seed " << seed;
      EXPECT_EQ(received.size(), std::size_t{kTurnRanks * kMessages}) << "seed " << seed;
    }
  }
}

TEST(Turns, ChangeTheOrderOfOneSendersPackets) {
  LoopParty party(2, {.seed = 3});
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(party[0].send(1, bytes_of_value(i), {}, 0).kind, core::Post::Kind::done);
  party.poll_until_quiet(2);
  auto received = party.inbox(1).packets;
  ASSERT_EQ(received.size(), 20u);
  const auto value_of = [](const auto& packet) {
    int value = 0;
    std::memcpy(&value, packet.second.data(), sizeof value);
    return value;
  };
  const auto before = [&](const auto& a, const auto& b) { return value_of(a) < value_of(b); };
  EXPECT_FALSE(std::is_sorted(received.begin(), received.end(), before));
  std::sort(received.begin(), received.end(), before);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(value_of(received[static_cast<std::size_t>(i)]), i);
}

TEST(Turns, PassOverARankThatStaysAwayAndLetItBackIn) {
  LoopParty party(2, {.seed = 5});
  std::atomic<bool> asked{false};
  const auto start = std::chrono::steady_clock::now();
  party.in_threads([&](Rank me) {
    if (me == 0) {
      party.poll(me);
      while (!asked.load()) {  // waits for something other than the network, perhaps with the turn
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) return;
        std::this_thread::yield();
      }
      ASSERT_EQ(party[0].send(1, bytes_of_text("back"), {}, 0).kind, core::Post::Kind::done);
    } else {
      for (int i = 0; i < 100; ++i) party.poll(me);
      asked.store(true);
      while (party.inbox(1).packets.empty()) {
        party.poll(me);
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) return;
      }
    }
  });
  EXPECT_EQ(party.inbox(1).packets.size(), 1u);
  EXPECT_GE(party.network().turns()->passed_over(), 1u);
  EXPECT_NE(party[0].state_of(1).find("turns passed over"), std::string::npos);
}

TEST(Turns, PassOverARankOnlyWhenTheClockSaysSo) {
  support::ManualClock clock;
  Turns turns(2, 7, clock.clock());
  turns.join(0);
  turns.take(0);  // and this thread does nothing with its turn
  std::atomic<bool> has_turn{false};
  std::thread other([&] {
    turns.join(1);
    turns.take(1);
    has_turn.store(true);
  });
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < 3 * Turns::kPatience) std::this_thread::yield();
  EXPECT_FALSE(has_turn.load());
  EXPECT_EQ(turns.passed_over(), 0u);
  clock.move_on(Turns::kPatience);
  while (!has_turn.load() && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(has_turn.load());
  EXPECT_EQ(turns.passed_over(), 1u);
  turns.leave(0);  // so that the other thread ends even if the clock was not read
  other.join();
}

TEST(Turns, NeverMakeASingleThreadWaitForItself) {
  const auto start = std::chrono::steady_clock::now();
  LoopParty party(8, {.seed = 9});
  for (int i = 0; i < 1000; ++i) party.poll_until_quiet();
  EXPECT_EQ(party.network().turns()->passed_over(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace aqueduct::conduits::loop
