// Scratch that the program gives to a team out of its own segment.

#include <aqueduct/coll_scratch.hpp>

#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace aqueduct::conformance {
namespace {

class CollectiveScratch : public FabricTest {};

constexpr std::byte kUntouched{0x5a};

/// One call of each operation, beside the model.
void expect_right_operations(Team& team, std::uint64_t count) {
  for (const Collective operation : kCollectives) {
    const CollectiveCall call{.operation = operation, .count = count, .root = team.size() - 1};
    std::vector<std::int32_t> input(count * blocks_in(operation, team.size()));
    std::vector<std::int32_t> output(count * blocks_out(operation, team.size()));
    const auto value = [&](Rank from, std::uint64_t i) { return coll_value<std::int32_t>(count, from, i); };
    for (std::uint64_t i = 0; i < input.size(); ++i) input[i] = value(team.index(), i);
    const auto expected = coll_result<std::int32_t>(
        call, team.size(), team.index(), value,
        [](std::int32_t a, std::int32_t b) { return coll_combined(ReduceOp::sum, a, b); }, output);
    std::span<const std::int32_t> in = input;
    std::span<std::int32_t> out = output;
    const Status status = coll_call<BlockingCalls>(team, call, in, out);
    ASSERT_TRUE(status) << status.text() << ": " << text_of(call);
    ASSERT_EQ(output, expected) << text_of(call);
  }
}

TEST_P(CollectiveScratch, OfTheProgramsOwnServesEveryOperation) {
  as_each_of(std::min<Rank>(many(), 4), 16 << 10, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    std::ranges::fill(me.segment(), kUntouched);
    const std::uint64_t least = least_scratch(**team);
    ASSERT_LE(least + 192, me.segment().size());
    // The least size and a larger one, at another place on each member; then the library's own again.
    for (const std::uint64_t bytes : {least, std::uint64_t{8} << 10, std::uint64_t{0}}) {
      const std::uint64_t offset = bytes == 0 ? 0 : 64 * (me.rank() % 2 + 1);
      const Status status = use_scratch(**team, me.segment().subspan(offset, bytes));
      ASSERT_TRUE(status) << status.text() << ": " << bytes << " bytes";
      for (const std::uint64_t count : {1u, 40u, 700u})
        ASSERT_NO_FATAL_FAILURE(expect_right_operations(**team, count)) << bytes << " bytes";
      ASSERT_TRUE((*team)->barrier());
      if (bytes == 0) continue;
      for (std::uint64_t i = 0; i < me.segment().size(); ++i) {
        if (i >= offset && i < offset + bytes) continue;
        ASSERT_EQ(me.segment()[i], kUntouched) << "byte " << i << " is not of the scratch";
      }
      ASSERT_TRUE((*team)->barrier());
      std::ranges::fill(me.segment(), kUntouched);
    }
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(me.barrier());
  });
}

// Members announce room in it where their outputs are in no segment.
TEST_P(CollectiveScratch, OfTheProgramsOwnCarriesLongBlocksToo) {
  as_each_of(std::min<Rank>(many(), 3), 1 << 20, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    ASSERT_TRUE(use_scratch(**team, me.segment().last(768 << 10)));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(**team, 36 << 10));
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveScratch, OfTheTeamOfAllRanksAndOfThoseMadeOfIt) {
  as_each_of(std::min<Rank>(many(), 3), 16 << 10, [](Endpoint& me) {
    ASSERT_TRUE(use_scratch(me.world(), me.segment().first(4096)));
    auto team = me.world().dup();
    ASSERT_TRUE(team) << team.status().text();
    ASSERT_TRUE(use_scratch(*team, me.segment().last(4096)));
    for (int i = 0; i < 3; ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_right_operations(me.world(), 30));
      ASSERT_NO_FATAL_FAILURE(expect_right_operations(*team, 30));
    }
    ASSERT_TRUE(team->end());
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(me.world(), 30));
    ASSERT_TRUE(use_scratch(me.world(), {})) << "before the segment goes away";
    ASSERT_TRUE(me.barrier());
  });
}

// Operations of two teams would write to the same places, or to those of a later segment.
TEST_P(CollectiveScratch, OfTheProgramsOwnServesOneTeamAsLongAsItIsThere) {
  as_each_of(std::min<Rank>(many(), 3), 16 << 10, [](Endpoint& me) {
    auto segment = Segment::create<std::byte>(me.world(), 16 << 10);
    auto one = me.world().dup();
    auto other = me.world().dup();
    ASSERT_TRUE(segment && one && other);
    const Rank last = me.ranks() - 1;
    const std::span<std::byte> memory = segment->mine();
    ASSERT_TRUE(use_scratch(*one, memory.first(8192)));
    // On one member it overlaps.
    const std::size_t at = me.rank() == last ? 2048 : 8192;
    EXPECT_EQ(use_scratch(*other, memory.subspan(at, 4096)), Status(ErrorCode::invalid_argument, last));
    ASSERT_TRUE(use_scratch(*other, memory.subspan(8192, 4096)));
    ASSERT_TRUE(use_scratch(*one, memory.first(4096))) << "its own";
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(*one, 30));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(*other, 30));
    EXPECT_EQ(segment->release().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(use_scratch(*one, {}));
    EXPECT_EQ(segment->release().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(other->end());
    ASSERT_TRUE(segment->release());
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(*one, 30));
    ASSERT_TRUE(one->end());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveScratch, ThatCannotServeIsAnErrorOnAllMembers) {
  as_each_of(std::min<Rank>(many(), 3), 16 << 10, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    const std::uint64_t least = least_scratch(**team);
    const Rank last = me.ranks() - 1;
    const Status wrong(ErrorCode::invalid_argument, last);
    const auto piece = [&](std::uint64_t bytes) { return me.segment().first(bytes); };
    // Too short at one member; a line too short by its place; none at one member; memory of no segment.
    EXPECT_EQ(use_scratch(**team, piece(me.rank() == last ? least - 1 : least)), wrong);
    EXPECT_EQ(use_scratch(**team, me.segment().subspan(me.rank() == last ? 1 : 0, least)), wrong);
    EXPECT_EQ(use_scratch(**team, piece(me.rank() == last ? 0 : least)), wrong);
    std::vector<std::byte> other(least + 64);
    EXPECT_EQ(use_scratch(**team, me.rank() == last ? std::span(other) : piece(least)), wrong);
    std::uint64_t word = 1;
    {
      auto plan = all_reduce_plan(**team, std::span(&word, 1), ReduceOp::sum);
      ASSERT_TRUE(plan);
      EXPECT_EQ(use_scratch(**team, piece(least)).code(), ErrorCode::invalid_argument) << "a plan is bound";
      ASSERT_TRUE(plan->run());
      ASSERT_TRUE(plan->end());
    }
    // The team goes on as it was.
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(**team, 20));
    ASSERT_TRUE(use_scratch(**team, piece(least)));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(**team, 20));
    ASSERT_TRUE((*team)->end());
    EXPECT_EQ(use_scratch(**team, piece(least)).code(), ErrorCode::closed);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveScratch, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
