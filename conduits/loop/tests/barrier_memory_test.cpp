// A peer's arrival for which there is no memory.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/wire.hpp"
#include "conduits/loop/tests/allocation_count.hpp"
#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

/// The packet that says that its sender has arrived at the first barrier of a team.
std::vector<std::byte> arrival_of(std::uint64_t team) {
  const coll::Arrival arrival{team, 1, 0, 0, 0, 0};
  const am::PacketHeader header{
      am::PacketKind::request, AmCategory::short_request, coll::kArrive, 0, sizeof arrival, 0, 0};
  std::vector<std::byte> packet(sizeof header + sizeof arrival);
  std::memcpy(packet.data(), &header, sizeof header);
  std::memcpy(packet.data() + sizeof header, &arrival, sizeof arrival);
  return packet;
}

// The team's barrier could not end on this rank, so without the loss the program would wait for ever.
TEST(LoopBarrierMemory, AnArrivalThatCannotBeRememberedIsALossAndSaysWhy) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off") &&
              config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  aqueduct::detail::EndpointState& state = job->endpoint(0).state();
  const std::vector<std::byte> packet = arrival_of(12'345);
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

// Such arrivals were dropped without a word.
TEST(LoopBarrierMemory, AnArrivalBeyondTheBoundIsALossAndSaysWhy) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off") &&
              config.set("segment_bytes", "4K"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  aqueduct::detail::EndpointState& state = job->endpoint(0).state();
  const auto arrive = [&](std::uint64_t team) {
    state.messages->packet(1, arrival_of(team));
    if (team % 16 == 0) job->endpoint(1).progress();  // takes the credits
  };
  const auto is_lost = [&] {
    state.checked_peers = {};
    core::check_peers(state);
    return job->endpoint(0).is_lost(1);
  };
  const std::uint64_t first = std::uint64_t{1} << 40;
  for (std::uint64_t i = 0; i < coll::Barriers::kMostStrange; ++i) arrive(first + i);
  arrive(first);  // of a team that is remembered
  EXPECT_FALSE(is_lost());
  arrive(first + coll::Barriers::kMostStrange);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(is_lost());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("rank 1 has arrived at a barrier of a team"), std::string::npos) << said;
  EXPECT_NE(said.find("65536 such teams are remembered already"), std::string::npos) << said;
}

}  // namespace
}  // namespace aqueduct::conduits::loop
