#include <aqueduct/aqueduct.hpp>

#include "coll/barriers.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::smp {
namespace {

// Rank 2 never arrives. Rank 0 is the first to learn of its loss, and starts another barrier: this must not count as
// rank 2.
TEST(CounterBarrier, IsNotOpenedByThoseWhoComeAgainAfterALoss) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  Endpoint& informed = job->endpoint(0);
  Endpoint& uninformed = job->endpoint(1);
  ASSERT_TRUE(informed.world().notify());
  informed.state().peer_lost(2);
  EXPECT_EQ(informed.world().wait(), Status(ErrorCode::peer_lost, 2));
  EXPECT_EQ(informed.barrier(), Status(ErrorCode::peer_lost, 2));  // rank 1 is then the third arrival

  ASSERT_TRUE(uninformed.world().notify());
  EXPECT_FALSE(uninformed.world().try_wait());
  EXPECT_EQ(uninformed.state().barriers->missing(*coll::barrier_of(uninformed.world().state())), "rank 2");
  uninformed.state().peer_lost(2);
  EXPECT_EQ(uninformed.world().wait(), Status(ErrorCode::peer_lost, 2));
}

}  // namespace
}  // namespace aqueduct::conduits::smp
