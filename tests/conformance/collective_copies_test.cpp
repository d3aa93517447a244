#include <aqueduct/coll.hpp>
#include <aqueduct/coll_traffic.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace aqueduct::conformance {
namespace {

/// Large collectives whose inputs lie in no segment: between two processes of a host the system copies them, or they go through the
/// board; an output in a segment is written to by the owner of the bytes.
class CollectiveCopies : public FabricTest {};

constexpr std::size_t kCopiedWords = 8192;
constexpr std::uint64_t kCopiedBytes = kCopiedWords * sizeof(std::uint64_t);  // more than a slot of a board

std::uint64_t copied_word(Rank rank, std::size_t i, int round) {
  return rank * 1'000'000 + i * 10 + static_cast<std::uint64_t>(round);
}

/// One call of each operation among two ranks, with new contents. `outputs`: two blocks, in a segment or not.
void call_each(Team& team, std::span<std::uint64_t> outputs, int round) {
  const Rank me = team.index();
  const Rank other = 1 - me;
  constexpr std::size_t n = kCopiedWords;
  std::vector<std::uint64_t> mine(2 * n);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = copied_word(me, i, round);
  const std::span<const std::uint64_t> one = std::span(mine).first(n);
  const std::span<std::uint64_t> block = outputs.first(n);
  const auto blocks_are = [&](auto value) {
    for (Rank r = 0; r < 2; ++r) {
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(outputs[r * n + i], value(r, i)) << "block " << r << ", " << i;
    }
  };
  const auto block_is = [&](auto value) {
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(block[i], value(i)) << i;
  };
  for (Rank root = 0; root < 2; ++root) {
    SCOPED_TRACE("root " + std::to_string(root) + ", round " + std::to_string(round));
    std::ranges::fill(outputs, 0);
    ASSERT_TRUE(scatter(team,
                        me == root ? std::span<const std::uint64_t>(mine) : std::span<const std::uint64_t>(),
                        block, root));
    ASSERT_NO_FATAL_FAILURE(block_is([&](std::size_t i) { return copied_word(root, me * n + i, round); }));
    ASSERT_TRUE(gather(team, one, me == root ? outputs : std::span<std::uint64_t>(), root));
    if (me == root) {
      ASSERT_NO_FATAL_FAILURE(blocks_are([&](Rank r, std::size_t i) { return copied_word(r, i, round); }));
    }
    const auto sums = me == root ? block : std::span<std::uint64_t>();
    ASSERT_TRUE(reduce(team, one, sums, ReduceOp::sum, root));
    if (me == root) {
      ASSERT_NO_FATAL_FAILURE(
          block_is([&](std::size_t i) { return copied_word(me, i, round) + copied_word(other, i, round); }));
    }
    if (me == root) std::ranges::copy(one, block.begin());
    ASSERT_TRUE(broadcast(team, block, root));
    ASSERT_NO_FATAL_FAILURE(block_is([&](std::size_t i) { return copied_word(root, i, round); }));
    // The root's data in private memory, and the other's in the output.
    std::vector<std::uint64_t> copy(one.begin(), one.end());
    const auto data = me == root ? std::span(copy) : block;
    ASSERT_TRUE(broadcast(team, data, root));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(data[i], copied_word(root, i, round)) << i;
  }
  ASSERT_TRUE(all_gather(team, one, outputs));
  ASSERT_NO_FATAL_FAILURE(blocks_are([&](Rank r, std::size_t i) { return copied_word(r, i, round); }));
  ASSERT_TRUE(all_to_all(team, std::span<const std::uint64_t>(mine), outputs));
  ASSERT_NO_FATAL_FAILURE(
      blocks_are([&](Rank r, std::size_t i) { return copied_word(r, me * n + i, round); }));
  ASSERT_TRUE(reduce_scatter(team, std::span<const std::uint64_t>(mine), block, ReduceOp::sum));
  ASSERT_NO_FATAL_FAILURE(block_is(
      [&](std::size_t i) { return copied_word(0, me * n + i, round) + copied_word(1, me * n + i, round); }));
  ASSERT_TRUE(all_reduce(team, one, block, ReduceOp::sum));
  ASSERT_NO_FATAL_FAILURE(
      block_is([&](std::size_t i) { return copied_word(0, i, round) + copied_word(1, i, round); }));
}

TEST_P(CollectiveCopies, OfInputsInNoSegmentAreRight) {
  run({.ranks = 2, .segment_bytes = 2 * kCopiedWords * sizeof(std::uint64_t)}, [](Endpoint& me) {
    const std::span segment(reinterpret_cast<std::uint64_t*>(me.segment().data()), 2 * kCopiedWords);
    std::vector<std::uint64_t> aside(2 * kCopiedWords);
    for (int round = 0; round < 3; ++round) {
      ASSERT_NO_FATAL_FAILURE(call_each(me.world(), segment, round));
      ASSERT_NO_FATAL_FAILURE(call_each(me.world(), aside, round));
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      for (int call = 0; call < 2; ++call) ASSERT_NO_FATAL_FAILURE(call_each(*team, aside, call));
      ASSERT_TRUE(team->end());
    }
  });
}

/// What a call of this rank moves.
CollTraffic traffic_of_call(Team& team, const std::function<Status()>& call) {
  const auto before = coll_traffic(team, 0);
  EXPECT_TRUE(call());
  const auto after = coll_traffic(team, 0);
  EXPECT_TRUE(before && after);
  if (!before || !after) return {};
  CollTraffic found;
  found.read_inside = after->read_inside - before->read_inside;
  found.written_inside = after->written_inside - before->written_inside;
  found.staged = after->staged - before->staged;
  return found;
}

/// Whether the system lets this process read out of the other one's. Collective among two.
bool system_copies(Endpoint& me) {
  struct Mark {
    std::int64_t pid;
    std::uint64_t at;
  };
  static std::uint64_t word = 0;
  word = 7 + me.rank();
  const Mark mine{::getpid(), reinterpret_cast<std::uintptr_t>(&word)};
  std::array<Mark, 2> all{};
  EXPECT_TRUE(
      all_gather(me.world(), std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all))));
  const Mark& other = all[1 - me.rank()];
  std::uint64_t found = 0;
  iovec here{&found, sizeof found};
  iovec there{reinterpret_cast<void*>(other.at), sizeof found};  // NOLINT(performance-no-int-to-ptr)
  std::uint32_t can =
      ::process_vm_readv(static_cast<pid_t>(other.pid), &here, 1, &there, 1, 0) == sizeof found &&
      found == 7 + (1 - me.rank());
  EXPECT_TRUE(all_reduce(me.world(), std::span(&can, 1), ReduceOp::min));
  return can != 0;
}

TEST_P(CollectiveCopies, AreMadeByTheSystemWhereItAllowsThem) {
  const std::string name(fabric().name);
  if (name != "smp-processes" && name != "smp-without-cma")
    GTEST_SKIP() << "not the fabrics that are compared";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "ranks that share a processor use the board";
  run({.ranks = 2, .segment_bytes = 4096}, [&name](Endpoint& me) {
    const bool copied = system_copies(me) && name == "smp-processes";
    // The team of all ranks has slots so long that it goes faster through them. Another team has short ones.
    auto second = me.world().dup();
    ASSERT_TRUE(second);
    for (Team* const team : {&me.world(), &*second}) {
      std::vector<std::uint64_t> block(kCopiedWords);
      std::vector<std::uint64_t> all(2 * kCopiedWords);
      const auto call = [&] {
        return all_gather(*team, std::span<const std::uint64_t>(block), std::span(all));
      };
      // Members prepare in their first calls, as far as the others have come.
      for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(call());
        ASSERT_TRUE(me.barrier());
      }
      const CollTraffic moved = traffic_of_call(*team, call);
      EXPECT_EQ(moved.read_inside, kCopiedBytes);
      EXPECT_EQ(moved.staged, copied && team != &me.world() ? 0 : kCopiedBytes);
    }
    ASSERT_TRUE(second->end());
    // A reduction among two goes through the board.
    std::vector<std::uint64_t> block(kCopiedWords, 1);
    std::vector<std::uint64_t> sums(kCopiedWords);
    const auto out = me.rank() == 0 ? std::span(sums) : std::span<std::uint64_t>();
    const CollTraffic moved = traffic_of_call(me.world(), [&] {
      return reduce(me.world(), std::span<const std::uint64_t>(block), out, ReduceOp::sum, 0);
    });
    EXPECT_EQ(moved.staged, me.rank() == 0 ? 0 : kCopiedBytes);
  });
}

// Nothing is copied in, or read.
TEST_P(CollectiveCopies, TheOwnerWritesIntoMappedOutputs) {
  const std::string name(fabric().name);
  if (!fabric().process_each() || !name.starts_with("smp-"))
    GTEST_SKIP() << "the members do not share memory, or also the inputs";
  const Settings settings{{"coll_broadcast", "mapped"}};  // on one processor it would go in pieces
  run({.ranks = 2, .segment_bytes = 2 * kCopiedBytes, .settings = settings}, [](Endpoint& me) {
    const std::span outputs(reinterpret_cast<std::uint64_t*>(me.segment().data()), 2 * kCopiedWords);
    const std::span block = outputs.first(kCopiedWords);
    std::vector<std::uint64_t> mine(2 * kCopiedWords, 3);
    const std::span<const std::uint64_t> one = std::span(mine).first(kCopiedWords);
    const bool root = me.rank() == 1;
    Team& team = me.world();
    ASSERT_TRUE(me.barrier());
    const auto writes = [&](bool here, const std::function<Status()>& call) {
      const CollTraffic moved = traffic_of_call(team, call);
      EXPECT_EQ(moved.written_inside, here ? kCopiedBytes : 0);
      EXPECT_EQ(moved.staged + moved.read_inside, 0u);
    };
    writes(true, [&] { return all_gather(team, one, outputs); });
    writes(true, [&] { return all_to_all(team, std::span<const std::uint64_t>(mine), outputs); });
    writes(root, [&] {
      return scatter(team, root ? std::span<const std::uint64_t>(mine) : std::span<const std::uint64_t>(),
                     block, 1);
    });
    writes(root, [&] { return broadcast(team, root ? std::span(mine).first(kCopiedWords) : block, 1); });
    ASSERT_TRUE(me.barrier());
  });
}

/// `context`: whether this process dies here. Slow, so that the other one still reads then.
void add_or_die(void* to, const void* left, const void* right, std::size_t count, void* context) {
  if (*static_cast<const bool*>(context)) std::raise(SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t a, b;
    std::memcpy(&a, static_cast<const std::uint64_t*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const std::uint64_t*>(right) + i, sizeof b);
    a += b;
    std::memcpy(static_cast<std::uint64_t*>(to) + i, &a, sizeof a);
  }
}

// The memory that a member reads goes away with its owner's process.
TEST_P(CollectiveCopies, EndWithPeerLostIfTheProcessDies) {
  const std::string_view name = fabric().name;
  if (!fabric().process_each() || !name.starts_with("smp-"))
    GTEST_SKIP() << "the members do not share memory, or cannot die alone";
  run({.ranks = 2,
       .segment_bytes = 4096,
       .settings = {{"coll_reduce_scatter", "mapped-tiles"}},
       .leaving = {1}},
      [](Endpoint& me) {
        constexpr std::uint32_t kOperator = 52;
        constexpr std::chrono::seconds kBound{2};  // specified: issue 19
        static bool dies = false;
        ASSERT_TRUE(add_operator(me, kOperator, {add_or_die, &dies, sizeof(std::uint64_t), true}));
        std::vector<std::uint64_t> in(16 * kCopiedWords, 1);
        std::vector<std::uint64_t> out(in.size() / 2);
        for (int i = 0; i < 4; ++i) {
          ASSERT_TRUE(reduce_scatter(me.world(), std::span<const std::uint64_t>(in).first(2 * kCopiedWords),
                                     std::span(out).first(kCopiedWords), Reducer::user(kOperator)));
          ASSERT_TRUE(me.barrier());
        }
        dies = me.rank() == 1;
        const auto since = std::chrono::steady_clock::now();
        const Status status = reduce_scatter(me.world(), std::span<const std::uint64_t>(in), std::span(out),
                                             Reducer::user(kOperator));
        ASSERT_FALSE(dies) << "this member has combined nothing";
        EXPECT_EQ(status.code(), ErrorCode::peer_lost) << status.text();
        EXPECT_LT(std::chrono::steady_clock::now() - since, kBound);
      });
}

// Only both ends of a buffer are tried before the system is to copy it.
TEST_P(CollectiveCopies, OfMemoryThatCannotBeCopiedEndTheTeamAndNameTheOwner) {
  const std::string name(fabric().name);
  if (name != "smp-processes") GTEST_SKIP() << "on this fabric the system does not copy";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "ranks that share a processor use the board";
  run({.ranks = 2, .segment_bytes = 4096}, [](Endpoint& me) {
    if (!system_copies(me)) GTEST_SKIP() << "the system allows no copies";
    const bool root = me.rank() == 1;
    auto* const memory = static_cast<std::byte*>(
        ::mmap(nullptr, kCopiedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory, MAP_FAILED);
    auto second = me.world().dup();
    ASSERT_TRUE(second);
    const auto call = [&] {
      return broadcast(*second, std::span(reinterpret_cast<std::uint64_t*>(memory), kCopiedWords), 1);
    };
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(call());
      ASSERT_TRUE(me.barrier());
    }
    if (root) {
      ASSERT_EQ(::mprotect(memory + kCopiedBytes / 2, kCopiedBytes / 4, PROT_NONE), 0);
    }
    // The log of the owner says what the other one has met.
    EXPECT_EQ(call(), root ? Status(ErrorCode::mismatch, 0) : Status(ErrorCode::network_failed, 1));
    EXPECT_TRUE(me.barrier());
    ASSERT_EQ(::munmap(memory, kCopiedBytes), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveCopies, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
