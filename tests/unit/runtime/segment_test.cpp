// A segment that one rank cannot have.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

namespace aqueduct {
namespace {

TEST(SegmentOfAllRanks, ThatOneCannotHaveNobodyHas) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  ASSERT_TRUE(config.set("segments", "4"));
  ASSERT_TRUE(config.set("log", "off"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    core::SegmentTable& table = ep.state().segments;
    // Only rank 1 has no room, as if its AQUEDUCT_SEGMENTS differed.
    if (ep.rank() == 1) {
      for (int i = 0; i < 2; ++i) table.add({}, std::vector<core::Part>(ep.ranks()));
    }
    const auto before = table.size();
    std::vector<std::byte> own(64);
    const Status refused(ErrorCode::refused, 1);
    EXPECT_EQ(Segment::create(ep, 64).status(), refused);
    EXPECT_EQ(Segment::attach(ep, own).status(), refused);
    EXPECT_EQ(table.size(), before);
    EXPECT_EQ(ep.segment_bytes(0, before), 0u);
    if (ep.rank() == 1) {
      for (int i = 0; i < 2; ++i) table.take_back();
    }
    const auto segment = Segment::create(ep, 64);
    ASSERT_TRUE(segment);
    EXPECT_EQ(segment->id(), 2u);
    EXPECT_TRUE(put_value(ep, segment->at<int>((ep.rank() + 1) % 3), 5));
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct
