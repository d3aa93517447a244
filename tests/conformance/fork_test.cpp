// Programs fork and call popen during a job. The child must do no harm, and the network
// must go on accessing the parent's memory.

#include <aqueduct/coll.hpp>
#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/support/forked.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace aqueduct::conformance {
namespace {

class Forks : public FabricTest {};

constexpr std::size_t kBytes = 20'000;

/// Tests the parent's endpoint in a forked child: returns 0, or the number of the call that was not refused.
/// `team`: of the parent. It ends here, which must do nothing to the parent's.
int child_of(Endpoint& me, std::optional<Team>& team) {
  std::array<std::byte, 8> some{};
  const GlobalPtr<std::byte> there{0, 0};
  if (me.ranks() != 0 || me.local(there) != nullptr) return 1;
  if (put(me, there, some).code() != ErrorCode::invalid_argument) return 2;
  if (get(me, some, there).code() != ErrorCode::invalid_argument) return 3;
  if (fetch_add(me, GlobalPtr<int>{0, 0}, 1).status().code() != ErrorCode::invalid_argument) return 4;
  if (signal(me, 0, {0, 1}).code() != ErrorCode::invalid_argument) return 5;
  if (me.barrier().code() != ErrorCode::invalid_argument) return 6;
  if (team->barrier().code() != ErrorCode::invalid_argument) return 7;
  team.reset();
  return me.progress() == 0 ? 0 : 8;
}

/// Every rank puts its pattern, from `local`, into the next rank's part of a segment, and reads it back into `local`.
void exchange(Endpoint& me, SegmentId id, std::span<std::byte> mine, std::span<std::byte> local,
              std::uint64_t round) {
  const auto sent = pattern(round * 100 + me.rank(), kBytes);
  std::copy(sent.begin(), sent.end(), local.begin());
  const GlobalPtr<std::byte> there{next(me), 0, id};
  ASSERT_TRUE(put(me, there, local));
  ASSERT_TRUE(me.barrier());
  EXPECT_TRUE(holds(mine, pattern(round * 100 + previous(me), kBytes))) << "round " << round;
  std::fill(local.begin(), local.end(), std::byte{0});
  ASSERT_TRUE(get(me, local, there));
  EXPECT_TRUE(holds(local, sent)) << "round " << round;
  ASSERT_TRUE(me.barrier());
}

TEST_P(Forks, InMidJobLeaveMemoryAndRanksAlone) {
  struct Memory {
    std::vector<std::byte> attached = std::vector<std::byte>(kBytes);
    std::vector<std::byte> local = std::vector<std::byte>(kBytes);
  };
  // Outlives the job, because it is made before.
  const auto memories = std::make_shared<std::array<Memory, 2>>();
  as_each_of(2, kBytes, [memories](Endpoint& me) {
    Memory& memory = (*memories)[me.rank()];
    const auto segment = Segment::attach(me, memory.attached);
    ASSERT_TRUE(segment) << segment.status().text();
    const auto exchange_all = [&](std::uint64_t round) {
      ASSERT_NO_FATAL_FAILURE(exchange(me, 0, me.segment(), memory.local, round));
      ASSERT_NO_FATAL_FAILURE(exchange(me, segment->id(), segment->mine(), memory.local, round + 1));
    };
    ASSERT_NO_FATAL_FAILURE(exchange_all(0));  // connects, registers and maps
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team) << team.status().text();
    const auto sum_of_ranks = [&] {
      std::uint64_t sum = me.rank();
      ASSERT_TRUE(all_reduce(**team, std::span(&sum, 1), ReduceOp::sum));
      EXPECT_EQ(sum, 1u);
      ASSERT_TRUE((*team)->barrier());
    };
    ASSERT_NO_FATAL_FAILURE(sum_of_ranks());
    // A living child shares the pages, so the first process that writes to a page gets
    // a copy of it; that must not be the parent.
    std::array<int, 2> hold{-1, -1};  // other ranks' children may hold its ends too, so a byte ends it
    ASSERT_EQ(::pipe(hold.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      const int result = child_of(me, *team);
      std::byte word;
      ::_exit(::read(hold[0], &word, 1) == 1 ? result : 100);
    }
    ASSERT_GT(child, 0);
    ASSERT_NO_FATAL_FAILURE(exchange_all(2));
    if (FILE* const pipe = ::popen("echo there", "r")) {
      std::array<char, 16> said{};
      EXPECT_NE(std::fgets(said.data(), said.size(), pipe), nullptr);
      EXPECT_STREQ(said.data(), "there\n");
      ::pclose(pipe);
    }
    ASSERT_NO_FATAL_FAILURE(exchange_all(4));
    ASSERT_EQ(::write(hold[1], "x", 1), 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    for (const int end : hold) ::close(end);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    ASSERT_NO_FATAL_FAILURE(exchange_all(6));
    ASSERT_NO_FATAL_FAILURE(sum_of_ranks());
    ASSERT_TRUE((*team)->end());
    EXPECT_FALSE(me.is_lost(next(me)));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Forks, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
