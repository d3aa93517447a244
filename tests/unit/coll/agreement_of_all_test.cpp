// Whether all members of a team conclude the same, in whatever order news arrives.

#include "tests/unit/coll/agreement_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::coll::agreement {
namespace {

using testing::HasSubstr;

/// Members that tell one another, in any order of delivery.
struct World {
  struct Message {
    Rank from, to;
    CallNews news;
  };
  explicit World(Rank ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) members.emplace_back(rank, ranks);
  }
  void spread(Rank from) {
    if (const auto news = members[from].take_news()) {
      for (Rank to = 0; to < members.size(); ++to) {
        if (to != from) messages.push_back({from, to, *news});
      }
    }
  }
  void call(Rank rank, const CallDescription& call) {
    static_cast<void>(members[rank].calls(members[rank].made() + 1, call));
    spread(rank);
  }
  void deliver(std::size_t which) {
    const Message message = messages[which];
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(which));
    static_cast<void>(members[message.to].heard(message.from, message.news.number, message.news.call));
    spread(message.to);
    ++delivered;
  }
  /// All members make so many calls, each by call_of(rank, number), and news is delivered, in an order by chance.
  template <class Call>
  void run(std::uint64_t calls, std::mt19937& random, const Call& call_of) {
    while (true) {
      std::vector<Rank> behind;
      for (Rank rank = 0; rank < members.size(); ++rank) {
        if (members[rank].made() < calls) behind.push_back(rank);
      }
      if (behind.empty() && messages.empty()) return;
      if (!behind.empty() && (messages.empty() || random() % 2 == 0)) {
        const Rank rank = behind[random() % behind.size()];
        call_of(rank, members[rank].made() + 1);
      } else {
        deliver(random() % messages.size());
      }
    }
  }
  std::vector<TeamAgreement> members;
  std::deque<Message> messages;
  std::size_t delivered = 0;
};

// Calls that members refuse, and calls of another kind, at random: in the end all members are broken, or none.
TEST(Agreement, OfAllMembersHasTheSameOutcome) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 6;
    World world(ranks);
    std::vector<std::vector<CallDescription>> program(ranks);
    bool refused_by_some = false;
    for (std::uint64_t number = 1; number <= calls; ++number) {
      const bool all_refuse = random() % 3 == 0;
      const Rank odd = random() % 3 == 0 ? static_cast<Rank>(random() % ranks) : kNoRank;
      refused_by_some = refused_by_some || odd != kNoRank;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const bool refuses = all_refuse != (rank == odd);
        program[rank].push_back(refuses ? refused(broadcast_of(8, 9)) : broadcast_of(8));
      }
    }
    world.run(calls, random,
              [&](Rank rank, std::uint64_t number) { world.call(rank, program[rank][number - 1]); });
    for (Rank rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(world.members[rank].broken(), refused_by_some) << "round " << round << ", rank " << rank;
    EXPECT_LE(world.delivered, calls * ranks * (ranks - 1)) << "each number is told once";
  }
}

// Some members have no memory for a call that the others make: in whatever order news arrives, all have the same error, which
// names one of these.
TEST(Agreement, OfAllMembersNamesOneThatHadNoMemory) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 4;
    const std::uint32_t lacking =
        1 + static_cast<std::uint32_t>(random() % ((1u << ranks) - 2));  // a bit each
    World world(ranks);
    world.run(calls, random, [&](Rank rank, std::uint64_t number) {
      const bool refuses = number == calls && (lacking >> rank & 1) != 0;
      world.call(rank, refuses ? refused(broadcast_of(8), ErrorCode::no_memory) : broadcast_of(8));
    });
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Status status = world.members[rank].status();
      ASSERT_EQ(status.code(), ErrorCode::no_memory) << "round " << round << ", rank " << rank;
      ASSERT_LT(status.peer(), ranks);
      EXPECT_NE(lacking >> status.peer() & 1, 0u) << "round " << round << ", rank " << rank;
    }
    EXPECT_LE(world.delivered, calls * ranks * (ranks - 1)) << "each number is told once";
  }
}

// Members make no further call until they know whether all lacked memory for the last one. If so, the team goes on.
TEST(Agreement, GoesOnIfNoMemberHadMemory) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Rank ranks = 2 + static_cast<Rank>(random() % 5);
    const std::uint64_t calls = 1 + random() % 4;
    const std::uint32_t all = (1u << ranks) - 1;
    const std::uint32_t lacking = round % 2 == 0 ? all : 1 + static_cast<std::uint32_t>(random() % all);
    World world(ranks);
    world.run(calls, random, [&](Rank rank, std::uint64_t number) {
      const bool refuses = number == calls && (lacking >> rank & 1) != 0;
      world.call(rank, refuses ? refused(broadcast_of(8), ErrorCode::no_memory) : broadcast_of(8));
      if (refuses) world.members[rank].lacked_memory();
    });
    for (Rank rank = 0; rank < ranks; ++rank) {
      TeamAgreement& member = world.members[rank];
      EXPECT_FALSE(member.in_doubt());
      ASSERT_EQ(member.broken(), lacking != all) << "round " << round << ", rank " << rank;
      EXPECT_EQ(member.calls(calls + 1, sum_of(8)).code(),
                lacking != all ? ErrorCode::no_memory : ErrorCode::ok);
    }
  }
}

// One member has seen a wrong fingerprint: all learn of it, and those whose calls differ are named.
TEST(Agreement, IsBrokenOnAllOnceAMemberHasSeenAnotherCall) {
  for (const Rank ranks : {Rank{2}, Rank{3}, Rank{9}}) {
    World world(ranks);
    const Rank odd = ranks - 1;
    for (Rank rank = 0; rank < ranks; ++rank) world.call(rank, rank == odd ? sum_of(8) : broadcast_of(64));
    EXPECT_FALSE(world.members[0].saw_other(1, kNoRank).ok());
    world.spread(0);
    while (!world.messages.empty()) world.deliver(0);
    for (const TeamAgreement& member : world.members) {
      EXPECT_TRUE(member.broken());
      EXPECT_THAT(member.why(), HasSubstr("all_reduce of 8 bytes"));
      EXPECT_THAT(member.why(), HasSubstr("broadcast of 64 bytes"));
    }
    EXPECT_EQ(world.delivered, 2 * (ranks - 1)) << "the first member and the odd one tell all";
  }
}

}  // namespace
}  // namespace aqueduct::coll::agreement
