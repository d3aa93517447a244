// Requirements H-13, H-29 and HF-16: what reductions up a tree move, wherever the ranks are and however many are in a domain.

#include "coll/algorithms/algorithms.hpp"
#include "coll/model/memory_forms.hpp"
#include "tests/unit/coll/traffic_of.hpp"

#include <atomic>
#include <thread>

namespace aqueduct::coll::traffic {
namespace {

constexpr Host kTreeHosts[] = {{2, 4}, {2, 6}, {4, 8}};
constexpr Rank kTreeRoot = 3;
constexpr std::uint64_t kLong = 3 * kBytes + 40;  // several strips, and a rest

/// Members that have others below them: of those of a domain, as many as pass something on inside.
std::uint64_t parents_of(const Host& host, std::uint64_t radix) {
  return host.domains * ((host.each - 1 + radix - 1) / radix);
}

class CollTrafficUpATree : public testing::Test {
 protected:
  void SetUp() override {
    // A build without hwloc knows no topology, not even a pretended one, so there are no domains to count for.
    if (!pretends_topology()) GTEST_SKIP() << "no hwloc";
  }
  using Check = std::function<void(const Host&, std::uint64_t parents, const CollTraffic&)>;
  static void of_each(const char* setting, const std::function<Status(Team&, TwoBuffers)>& call,
                      const Check& check) {
    for (const Host& host : kTreeHosts) {
      for (const std::string& places : {std::string(), scattered(host)}) {
        for (const std::uint64_t radix : {0u, 3u, 64u}) {
          const std::string tree = radix == 0 ? "mapped-tree" : fmt::format("mapped-tree:radix={}", radix);
          SCOPED_TRACE(host.text() + " " + places + " " + tree);
          check(host, parents_of(host, radix == 0 ? 2 : radix),
                traffic_of(setting, tree, places, true, call, host));
        }
      }
    }
  }
  static MemoryMachine machine_of(const Host& host) {
    return {.inside = {},
            .across = {},
            .domains = static_cast<std::uint32_t>(host.domains),
            .members = static_cast<std::uint32_t>(host.each)};
  }
  static std::uint64_t term(std::uint64_t i, std::uint64_t rank) { return i * 7 + rank * rank; }
  static void fill(std::span<std::uint64_t> words, std::uint64_t rank) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = term(i, rank);
  }
  static void expect_sums(std::span<const std::uint64_t> words, Rank ranks) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::uint64_t sum = 0;
      for (Rank r = 0; r < ranks; ++r) sum += term(i, r);
      wrong += words[i] == sum ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(CollTrafficUpATree, OfAReduceABlockCrossesForEachOtherDomain) {
  const auto call = [](Team& team, TwoBuffers buffers) {
    const auto in = words_of(buffers.in, kLong);
    const auto out = words_of(buffers.out, kLong);
    fill(in, buffers.rank);
    const Status status = reduce(team, in, out, ReduceOp::sum, kTreeRoot);
    if (buffers.rank == kTreeRoot) expect_sums(out, team.size());
    return status;
  };
  of_each("coll_reduce", call, [](const Host& host, std::uint64_t parents, const CollTraffic& sum) {
    EXPECT_EQ(sum.read_across, crossings(machine_of(host)).reduce_by_tree * kLong);
    EXPECT_EQ(sum.read_inside, host.domains * (host.each - 1) * kLong);
    EXPECT_EQ(sum.written_across + sum.written_inside, 0u);
    EXPECT_EQ(sum.staged, (parents - 1) * kLong) << "partial results; the root has them in its output";
    EXPECT_EQ(sum.copied, 0u) << "inputs are read where they lie";
    EXPECT_EQ(sum.touched, (host.ranks() - 1 + 2 * parents) * kLong);
  });
}

TEST_F(CollTrafficUpATree, OfAnAllReduceTheResultCrossesToo) {
  for (const bool in_place : {false, true}) {
    const auto call = [in_place](Team& team, TwoBuffers buffers) {
      const auto out = words_of(buffers.out, kLong);
      const auto in = in_place ? out : words_of(buffers.in, kLong);
      fill(in, buffers.rank);
      const Status status =
          in_place ? all_reduce(team, out, ReduceOp::sum) : all_reduce(team, in, out, ReduceOp::sum);
      expect_sums(out, team.size());
      return status;
    };
    of_each("coll_all_reduce", call, [](const Host& host, std::uint64_t parents, const CollTraffic& sum) {
      const Crossings lines = crossings(machine_of(host));
      EXPECT_EQ(sum.read_across, (lines.reduce_by_tree + lines.broadcast_in_two_stages) * kLong);
      EXPECT_EQ(sum.read_inside, 2 * host.domains * (host.each - 1) * kLong);
      EXPECT_EQ(sum.written_across + sum.written_inside, 0u);
      EXPECT_EQ(sum.staged, (parents - 1) * kLong);
      EXPECT_EQ(sum.copied, (host.ranks() - 1) * kLong) << "one copy for each reader";
      EXPECT_EQ(sum.touched, touches(machine_of(host), parents).tree_in_passes * kLong);
    });
  }
}

// The root waits for those below it once, however many they are, and each of them until its input has been read.
TEST(CollWaitsUpATree, AreOneForEachMember) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  ASSERT_TRUE(config.set("coll_reduce", "mapped-tree"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  std::atomic<bool> root_waits{false};
  std::atomic<int> others_wait{0};
  job->run_each([&](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    ASSERT_TRUE(team->barrier());
    const auto before = coll_traffic(*team, 0);
    ASSERT_TRUE(before);
    std::vector<std::uint64_t> in(2, me.rank() + 1), out(2);
    while (me.rank() != 0 && !root_waits.load()) std::this_thread::yield();
    Event event = reduce_nb(*team, in, out, ReduceOp::sum, 0, {.in = Sync::mine, .out = Sync::mine});
    for (int i = 0; i < 3; ++i) me.progress();
    if (me.rank() == 0) {
      root_waits.store(true);
      while (others_wait.load() != 2) std::this_thread::yield();
    } else {
      ++others_wait;
    }
    ASSERT_TRUE(me.wait(event));
    const auto after = coll_traffic(*team, 0);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->waits - before->waits, 1u) << "rank " << me.rank();
    if (me.rank() == 0) {
      EXPECT_EQ(out, std::vector<std::uint64_t>(2, 6));
    }
    ASSERT_TRUE(team->barrier());
  });
  EXPECT_TRUE(job->finish());
}

// Whatever the order in which members combine, it is that of the team or a refusal.
TEST(UpTree, RefusesWhatItsOrderCannotDo) {
  for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
    const Algorithm* const tree = board_algorithm(operation, BoardMethod::large_tree);
    ASSERT_NE(tree, nullptr);
    EXPECT_EQ(tree->parameters[0].usual, 2u) << "requirement H-14";
    Shape shape;
    shape.operation = operation;
    shape.ranks = 5;
    shape.element = 8;
    shape.bytes = shape.pitch = 1 << 16;
    shape.parameters = {2};
    EXPECT_EQ(tree->refusal(shape), nullptr);
    shape.commutative = false;
    EXPECT_EQ(tree->refusal(shape), nullptr) << "member 0 is the root";
    shape.root = 1;
    EXPECT_EQ(tree->refusal(shape) != nullptr, operation == Operation::reduce);
    shape.root = 0;
    shape.commutative = true;
    shape.order = Order::exact;
    EXPECT_NE(tree->refusal(shape), nullptr);
    shape.order = Order::any;
    shape.element = shape.bytes = shape.pitch = 4104;
    EXPECT_NE(tree->refusal(shape), nullptr);
  }
}

}  // namespace
}  // namespace aqueduct::coll::traffic
