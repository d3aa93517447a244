// Transfers of pieces while operator new fails, though the system gives memory.

#include <aqueduct/aqueduct.hpp>

#include "conduits/loop/tests/allocation_count.hpp"
#include "core/endpoint_state.hpp"
#include "vis/piece_transfers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

/// Goes on by 30 ms at each look, so that a wait of seconds takes a moment.
struct QuickClock {
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const QuickClock*>(self);
    return core::Clock::time_point(std::chrono::hours(1) + ++clock.looks * std::chrono::milliseconds(30));
  }
  core::EndpointClock clock() const noexcept { return {tell, this}; }
  mutable std::atomic<std::int64_t> looks{0};
};

// Such a transfer waited for ever: only the look for the system's memory counted, and a buffer that cannot be allocated was as one
// that is in use.
TEST(VisMemory, ATransferWithoutItsBufferEndsWithNoMemory) {
  for (const vis::Plan plan : {vis::Plan::packed, vis::Plan::box}) {
    SCOPED_TRACE(plan == vis::Plan::packed ? "packed" : "box");
    Config config;
    for (const auto& [name, value] :
         {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "64K"}, {"loop_native", "rma"}})
      ASSERT_TRUE(config.set(name, value));
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job);
    Endpoint& me = job->endpoint(0);
    std::vector<std::byte> data(5000);
    const Strided apart(100, {{50, 300}});
    const auto there = pieces(GlobalPtr<std::byte>{1, 64}, apart);
    const auto here = contiguous(data.data(), data.size());
    me.state().vis->force(static_cast<std::uint64_t>(vis::Plan::pieces));
    job->run_each([&](Endpoint& ep) {  // what a transfer itself takes is there from then on
      if (ep.rank() == 0) {
        EXPECT_TRUE(get(ep, here, there));
      }
      ASSERT_TRUE(ep.barrier());
    });
    me.state().vis->force(static_cast<std::uint64_t>(plan));
    const QuickClock quick;
    const core::EndpointClock before = std::exchange(me.state().clock, quick.clock());
    Event event;
    testing::internal::CaptureStderr();
    {
      const NoMemory none;
      event = get_nb(me, here, there);
      for (int i = 0; i < 100'000 && !event.done(); ++i) me.progress();
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("finds no memory"), std::string::npos) << said;
    ASSERT_TRUE(event.done());
    EXPECT_EQ(me.wait(event), Status(ErrorCode::no_memory, 1));
    me.state().clock = before;
    // Once there is memory the same call works.
    job->run_each([&](Endpoint& ep) {
      if (ep.rank() == 0) {
        EXPECT_TRUE(get(ep, here, there));
      }
      ASSERT_TRUE(ep.barrier());
    });
    EXPECT_TRUE(job->finish());
  }
}

}  // namespace
}  // namespace aqueduct::conduits::loop
