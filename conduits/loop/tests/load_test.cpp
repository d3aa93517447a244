#include "conduits/loop/tests/party.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

constexpr Rank kRanks = 8;
constexpr std::uint32_t kPackets = 10'000;

/// Counts the packets of each peer by their number, and checks that each payload belongs to its number.
struct Tally final : core::Inbox {
  Tally() : seen(kRanks, std::vector<std::uint8_t>(kPackets, 0)) {}
  void packet(Rank from, core::Bytes bytes) noexcept override {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (bytes.size() != 4 + number % 200 || number >= kPackets) return void(++wrong);
    for (const std::byte byte : bytes.subspan(4))
      wrong += byte != static_cast<std::byte>(number + from) ? 1 : 0;
    ++seen[from][number];
    ++total;
  }
  void completed(core::Token, Status) noexcept override { ++wrong; }
  void signalled(Rank, Signal) noexcept override { ++wrong; }
  void lost(Rank) noexcept override { ++wrong; }

  std::vector<std::vector<std::uint8_t>> seen;
  std::uint32_t total = 0;
  int wrong = 0;
};

TEST(LoopUnderLoad, DeliversEveryPacketOfEightThreadsExactlyOnce) {
  LoopParty party(kRanks, {.queue = 16});
  std::vector<Tally> tallies(kRanks);
  std::atomic<std::uint32_t> arrived{0};
  std::atomic<bool> late{false};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  party.in_threads([&](Rank me) {
    std::uint32_t sent = 0;
    std::uint32_t counted = 0;
    while (arrived.load() < kRanks * kPackets && !late.load()) {
      if (sent < kPackets) {
        const std::vector<std::byte> payload(sent % 200, static_cast<std::byte>(sent + me));
        const Rank to = (me + sent) % kRanks;
        const auto post = party[me].send(to, bytes_of_value(sent), payload, 0);
        if (post.kind == core::Post::Kind::done) {
          ++sent;
        } else if (post.kind == core::Post::Kind::retry) {
          std::this_thread::yield();
        }
      }
      if (party[me].poll(tallies[me]) == 0 && sent == kPackets) std::this_thread::yield();
      arrived += tallies[me].total - counted;
      counted = tallies[me].total;
      if (std::chrono::steady_clock::now() > deadline) late.store(true);
    }
  });
  EXPECT_FALSE(late.load());
  for (Rank from = 0; from < kRanks; ++from) {
    for (std::uint32_t number = 0; number < kPackets; ++number) {
      const Rank to = (from + number) % kRanks;
      for (Rank rank = 0; rank < kRanks; ++rank) {
        ASSERT_EQ(tallies[rank].seen[from][number], rank == to ? 1 : 0)
            << "packet " << number << " of rank " << from << " at rank " << rank;
      }
    }
  }
  for (const Tally& tally : tallies) EXPECT_EQ(tally.wrong, 0);
}

TEST(LoopUnderLoad, BearsPeersThatCloseWhileOthersSendToThem) {
  LoopParty party(4, {.native = LoopOptions::Native::rma});
  std::vector<std::vector<std::byte>> memory(4, std::vector<std::byte>(64));
  std::vector<std::uint64_t> keys(4);
  for (Rank rank = 0; rank < 4; ++rank) {
    const auto key = party[rank].rma()->register_segment(0, memory[rank]);
    keys[rank] = *party[(rank + 1) % 4].rma()->import_key(rank, *key);
  }
  std::atomic<bool> late{false};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  party.in_threads([&](Rank me) {
    const std::vector<std::byte> bytes(64, std::byte{1});
    for (int i = 0; me != 0 && i < 1000; ++i) party.poll(me);
    while (me == 0 && party.inbox(0).losses.size() < 3) {
      for (Rank peer = 1; peer < 4; ++peer) {
        static_cast<void>(party[0].send(peer, bytes, {}, 0));
        static_cast<void>(party[0].rma()->put(peer, keys[peer], 0, bytes, false, 0));
      }
      party.poll(0);
      if (std::chrono::steady_clock::now() > deadline) return late.store(true);
    }
    party.close(me);
    if (me != 0) std::vector<std::byte>().swap(memory[me]);  // closed: no other rank may access it now
  });
  EXPECT_FALSE(late.load());
  EXPECT_EQ(party.inbox(0).losses.size(), 3u);
}

}  // namespace
}  // namespace aqueduct::conduits::loop
