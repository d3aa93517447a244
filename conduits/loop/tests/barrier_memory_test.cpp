// A peer's arrival for which there is no memory.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/wire.hpp"
#include "conduits/loop/tests/allocation_count.hpp"
#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

// The team's barrier could not end on this rank, so without the loss the program would wait for ever.
TEST(LoopBarrierMemory, AnArrivalThatCannotBeRememberedIsALossAndSaysWhy) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off") &&
              config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  aqueduct::detail::EndpointState& state = job->endpoint(0).state();
  const coll::Arrival arrival{12'345, 1, 0, 0, 0, 0};
  const am::PacketHeader header{
      am::PacketKind::request, AmCategory::short_request, coll::kArrive, 0, sizeof arrival, 0, 0};
  std::vector<std::byte> packet(sizeof header + sizeof arrival);
  std::memcpy(packet.data(), &header, sizeof header);
  std::memcpy(packet.data() + sizeof header, &arrival, sizeof arrival);
  testing::internal::CaptureStderr();
  {
    const NoMemory none;
    state.messages->packet(1, packet);
  }
  EXPECT_FALSE(job->endpoint(0).is_lost(1));
  state.checked_peers = {};
  core::check_peers(state);
  EXPECT_TRUE(job->endpoint(0).is_lost(1));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no memory to remember that rank 1 has arrived"), std::string::npos) << said;
}

}  // namespace
}  // namespace aqueduct::conduits::loop
