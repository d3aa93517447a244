#include <aqueduct/signal.hpp>

#include "tests/conformance/collective.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "topology/machine.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

namespace aqueduct::conformance {
namespace {

/// A member dies while others count on it: it is the last to arrive and has not published the result, or it holds a tile.
class CollectiveBoardLoss : public FabricTest {};

constexpr Rank kDyingAtBoard = 3;
constexpr std::uint32_t kDeadly = 51;  // the operator's number
constexpr SignalSlot kArrived = 31;
constexpr std::chrono::seconds kBoardLossBound{2};  // specified: issue 19

/// `context`: a bool that says whether this process dies here. Slow, so that nobody combines all.
void combine_or_die(void* to, const void* left, const void* right, std::size_t count, void* context) {
  if (*static_cast<const bool*>(context)) std::raise(SIGKILL);
  if (count > 100) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<const std::uint32_t*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const std::uint32_t*>(right) + i, sizeof b);
    a += b;
    std::memcpy(static_cast<std::uint32_t*>(to) + i, &a, sizeof a);
  }
}

void lose_a_member(Endpoint& me, std::size_t count, bool in_segment) {
  static bool dies = false;
  ASSERT_TRUE(add_operator(me, kDeadly, {combine_or_die, &dies, sizeof(std::uint32_t), true}));
  std::vector<std::uint32_t> aside(count);
  const std::span<std::uint32_t> data =
      in_segment ? std::span(reinterpret_cast<std::uint32_t*>(me.segment().data()), count) : std::span(aside);
  std::ranges::fill(data, 1u);
  ASSERT_TRUE(all_reduce(me.world(), data, Reducer::user(kDeadly)));
  for (const std::uint32_t sum : data) ASSERT_EQ(sum, me.ranks());
  // No movement but the one that combines: who arrives last arrives last in that one.
  const CollOptions mine{.in = Sync::mine, .out = Sync::mine};
  if (me.rank() == kDyingAtBoard) {
    ASSERT_TRUE(wait_until(me, kArrived, me.ranks() - 1, kAnyRank, std::chrono::seconds(10)));
    dies = true;
    static_cast<void>(all_reduce(me.world(), data, Reducer::user(kDeadly), mine));
    FAIL() << "the last to arrive has combined nothing";
  }
  const auto since = std::chrono::steady_clock::now();
  Event event = all_reduce_nb(me.world(), data, Reducer::user(kDeadly), mine);
  for (int i = 0; i < 10; ++i) me.progress();                   // arrives
  static_cast<void>(signal(me, kDyingAtBoard, {kArrived, 1}));  // it may die before it has answered
  static_cast<void>(me.wait_for(event, 10 * kBoardLossBound));
  ASSERT_TRUE(event.done());
  EXPECT_EQ(event.status().code(), ErrorCode::peer_lost) << event.status().text();
  EXPECT_LT(std::chrono::steady_clock::now() - since, kBoardLossBound);
  EXPECT_EQ(all_reduce(me.world(), data.first(1), ReduceOp::sum).code(), ErrorCode::peer_lost);
}

TEST_P(CollectiveBoardLoss, OfTheLastToArriveOrTheOwnerOfATileEndsTheTeam) {
  const std::string_view name = fabric().name;
  if (!fabric().process_each() || !name.starts_with("smp-"))
    GTEST_SKIP() << "the members do not share memory, or cannot die alone";
  struct Case {
    const char* algorithm;
    std::size_t count;
    bool in_segment;
  };
  constexpr const char* kTwoDomains = "package:2 core:2 pu:1";
  const bool by_domains =
      topology::read_machine(topology::Source::of(kTwoDomains)).problem.empty();  // else by tiles
  for (const Case& one :
       {Case{"flags-last", 8, false}, Case{"mapped-tiles", 32768, true}, Case{"mapped-claims", 32768, true},
        Case{"mapped-claims", 32768, false}, Case{"mapped-domain-tiles", 32768, true}}) {
    Settings settings{{"coll_all_reduce", one.algorithm}};
    if (by_domains && one.algorithm == std::string_view("mapped-domain-tiles"))
      settings.push_back({"topology", kTwoDomains});
    run({.ranks = 4, .segment_bytes = 1 << 18, .settings = settings, .leaving = {kDyingAtBoard}},
        [one](Endpoint& me) {
          SCOPED_TRACE(one.algorithm);
          lose_a_member(me, one.count, one.in_segment);
        });
    if (HasFailure() || testing::Test::IsSkipped()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveBoardLoss, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
