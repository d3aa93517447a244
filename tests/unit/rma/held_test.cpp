// What a fence holds back, and what it leaves as it is. Both ranks are on one thread; the memory is mapped.

#include <aqueduct/aqueduct.h>
#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace aqueduct::rma {
namespace {

constexpr core::OpKind kEarlier{"an earlier put", 0, nullptr, true};

class HeldBack : public testing::Test {
 protected:
  void SetUp() override { support::start_over_loop(job_, 2, {{"loop_native", "all"}}); }
  Endpoint& me() { return job_->endpoint(0); }
  std::uint64_t notifications() { return me().state().notifications.load(); }

  /// A fence holds back operations on the other rank from now on.
  void hold_back() {
    earlier_ = me().state().ops.acquire(kEarlier, 1, true);
    ASSERT_NE(earlier_, nullptr);
    ASSERT_TRUE(fence(me(), 1));
    ASSERT_EQ(me().mapped(1, 0, 0, 8), nullptr) << "inline calls would pass the fence";
  }
  void let_go() {
    me().state().ops.part_ended(*earlier_, {});
    static_cast<void>(me().state().ops.collect(*earlier_));
    me().progress();
  }

  std::optional<Job> job_;
  core::Op* earlier_ = nullptr;
};

TEST_F(HeldBack, PutsAndAtomicsWakeTheirTargetWhenTheyAreDone) {
  const std::array<std::uint64_t, 2> values{7, 8};
  const GlobalPtr<std::uint64_t> there{1, 64};
  const std::uint64_t* const words = me().local(there);
  ASSERT_NE(words, nullptr) << "the neighbour is not mapped";
  Event event;
  const std::vector<std::function<void(bool)>> calls{
      [&](bool notify) { event = put_nb(me(), there, values, {.notify = notify}); },
      [&](bool notify) {
        event = atomic_nb<AtomicOp::add>(me(), there, std::uint64_t{6}, nullptr, {.notify = notify});
      },
      [&](bool notify) { EXPECT_TRUE(put_nbi(me(), there, values, {.notify = notify})); },
      [&](bool notify) {
        EXPECT_TRUE(atomic_nbi<AtomicOp::store>(me(), there, std::uint64_t{7}, nullptr, {.notify = notify}));
      }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const bool notify : {false, true}) {
      SCOPED_TRACE(testing::Message() << "call " << i << ", notify " << notify);
      ASSERT_TRUE(put_value(me(), there, std::uint64_t{1}));
      const std::uint64_t before = notifications();
      ASSERT_NO_FATAL_FAILURE(hold_back());
      calls[i](notify);
      EXPECT_EQ(notifications(), before) << "woken before there is anything to see";
      EXPECT_EQ(*words, 1u);
      let_go();
      EXPECT_EQ(*words, 7u);
      EXPECT_EQ(notifications(), before + (notify ? 1 : 0));
      ASSERT_TRUE(event.done());
      EXPECT_TRUE(event.status());
      EXPECT_TRUE(me().wait_implicit());
    }
  }
}

TEST_F(HeldBack, NoQuestionWhetherMemoryIsMapped) {
  EXPECT_FALSE(is_mapped(me(), 1)) << "nobody has used it yet";
  EXPECT_EQ(mapped_ranks(me()), std::vector<Rank>{0});
  ASSERT_EQ(map_all(me()), 2u);
  EXPECT_TRUE(is_mapped(me(), 1));
  ASSERT_NO_FATAL_FAILURE(hold_back());
  EXPECT_TRUE(is_mapped(me(), 1));
  const auto* const in_c = reinterpret_cast<const aq_endpoint*>(&me());
  EXPECT_EQ(aq_mapped(in_c, aq_at(1, 0, 0), 0), nullptr) << "inline calls take the cold path";
  EXPECT_TRUE(aq_is_mapped(in_c, 1, 0));
  EXPECT_FALSE(aq_is_mapped(in_c, 2, 0));
  EXPECT_EQ(mapped_ranks(me()), (std::vector<Rank>{0, 1}));
  EXPECT_FALSE(is_mapped(me(), 2)) << "no such rank";
  EXPECT_FALSE(is_mapped(me(), 1, 99)) << "no such segment";
  let_go();
  EXPECT_TRUE(is_mapped(me(), 1));
  me().state().peer_lost(1);
  EXPECT_FALSE(is_mapped(me(), 1));
  EXPECT_EQ(mapped_ranks(me()), std::vector<Rank>{0});
}

}  // namespace
}  // namespace aqueduct::rma
