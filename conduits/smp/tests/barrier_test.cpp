#include <aqueduct/aqueduct.hpp>

#include "coll/barriers.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <new>

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

// Otherwise this rank alone would never have it again, and the next team of the host would mix it with messages.
TEST(HostBarrier, IsFreeAgainWhereThereWasNoMemoryForIt) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "smp"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  for (const Rank ranks : {Rank{2}, Rank{3}}) {
    auto job = Job::in_process(ranks, config);
    ASSERT_TRUE(job) << job.status().text();
    Endpoint& me = job->endpoint(0);
    const auto members = me.world().members();
    core::NativeCollectives* const collectives = me.state().conduit(0).collectives();
    ASSERT_NE(collectives, nullptr);
    EXPECT_EQ(collectives->make_barrier(members), nullptr) << "the team of all ranks has it";
    coll::barrier_of(me.world().state())->native->give_back();
    bool failed = false;
    try {
      const loop::NoMemory none;
      static_cast<void>(collectives->make_barrier(members));
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    EXPECT_NE(collectives->make_barrier(members), nullptr);
  }
}

}  // namespace
}  // namespace aqueduct::conduits::smp
