#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

#include <unistd.h>

namespace aqueduct::conformance {
namespace {

/// A peer that dies while transfers are under way.
class VisLoss : public FabricTest {};

TEST_P(VisLoss, ALostPeerEndsTransfersUnderWay) {
  for (const char* plan : {"pieces", "packed", "box"}) {
    SCOPED_TRACE(plan);
    Launch launch{2, 1 << 20, {{"vis_plan", plan}}};
    launch.leaving = {1};
    if (!fabric().process_each()) GTEST_SKIP() << "a rank that dies takes its process along";
    run(launch, [](Endpoint& me) {
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 1) {
        // What it sends just before it dies may be lost with it, so the other must have left the barrier.
        static_cast<void>(wait_until(me, 30, 1, kAnyRank, std::chrono::seconds(10)));
        ::_exit(0);
      }
      static_cast<void>(signal(me, 1, {30, 1}));  // the victim may die before it has answered
      std::vector<std::int64_t> here(1 << 15);
      const GlobalPtr<std::int64_t> there{1, 0};
      const auto remote = pieces(there, Strided(8, {{1 << 15, 24}}));
      const auto local = contiguous(here.data(), here.size());
      // Memory mapped here stays readable until the loss is noticed, which happens in a wait.
      if (me.local(there) != nullptr) {
        ASSERT_EQ(me.barrier().code(), ErrorCode::peer_lost);
      }
      Status status;
      ASSERT_TRUE(progress_until(me, [&] {
        status = get(me, local, remote);
        if (status) status = put(me, remote, local);
        return status.code() == ErrorCode::peer_lost;  // the network's own error may come before the loss
      })) << status.text();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Every, VisLoss, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
