// C handles where memory runs out: what all members of a team make must not be lost on one of them.

#include <aqueduct/aqueduct.h>
#include <aqueduct/aqueduct.hpp>

#include "conduits/loop/tests/allocation_count.hpp"
#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct::conduits::loop {
namespace {

class CHandles : public testing::Test {
 protected:
  template <class Body>
  static void as_each_of_two(Body body) {
    Config config = Config::from_variables({});
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job) << job.status().text();
    job->run_each([&](Endpoint& me) { body(me, aq_world(reinterpret_cast<aq_endpoint*>(&me))); });
    EXPECT_TRUE(job->finish());
  }
};

// The first try of rank 1 has no memory for the handle. It then makes the call again, for which rank 0 has waited.
TEST_F(CHandles, WithoutMemoryTheCallHasNotBegun) {
  as_each_of_two([](Endpoint& me, aq_team* world) {
    const std::uint32_t ranks[] = {0, 1};
    auto* const ep = reinterpret_cast<aq_endpoint*>(&me);
    aq_team* made[3] = {};
    const auto make = [&](int which) {
      if (which == 0) return aq_team_split(world, 0, me.rank(), &made[0]);
      if (which == 1) return aq_team_create(ep, ranks, 2, 7, &made[1]);
      return aq_team_dup(world, &made[2]);
    };
    for (int which = 0; which < 3; ++which) {
      if (me.rank() == 1) {
        const NoMemory for_the_handle(1);
        EXPECT_EQ(make(which).code, AQ_NO_MEMORY) << which;
        EXPECT_EQ(made[which], nullptr);
      }
      ASSERT_EQ(make(which).code, AQ_OK) << which;
      ASSERT_NE(made[which], nullptr);
    }
    for (aq_team* const team : made) {
      EXPECT_EQ(aq_team_end(team).code, AQ_OK);
      aq_team_destroy(team);
    }
  });
}

// A segment of one member would be memory that the others write to: all of them get the error.
TEST_F(CHandles, WithoutMemoryOnOneMemberNoneHasASegment) {
  as_each_of_two([](Endpoint& me, aq_team* world) {
    aq_segment* made = nullptr;
    {
      const NoMemory for_the_handle(me.rank() == 1 ? 1 : 0);
      EXPECT_EQ(aq_segment_create(world, 4096, &made).code, AQ_NO_MEMORY);
    }
    EXPECT_EQ(made, nullptr);
    ASSERT_EQ(aq_segment_create(world, 4096, &made).code, AQ_OK);
    EXPECT_EQ(aq_segment_release(made).code, AQ_OK);
    aq_segment_destroy(made);
  });
}

}  // namespace
}  // namespace aqueduct::conduits::loop
