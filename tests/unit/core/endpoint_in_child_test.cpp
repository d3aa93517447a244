// An endpoint in a forked child refuses calls before they reach a conduit.

#include "core/endpoint_state.hpp"
#include "core/wait.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::core {
namespace {

using support::in_a_child;

constexpr OpKind kPutOfTest{"a put"};

class EndpointInChild : public testing::Test {
 protected:
  EndpointInChild() {
    std::vector<SegmentPart> parts(2);
    for (SegmentPart& part : parts) part.bytes = memory_.size();
    state_.segments.add(memory_, std::move(parts));
    state_.segments.set_window(0, 1, memory_.data(), memory_.size());
  }

  Config config_ = Config::from_variables({});
  std::vector<std::byte> memory_ = std::vector<std::byte>(64);
  detail::EndpointState state_{1, 2, config_};
  Endpoint& me_ = state_.face;
};

TEST_F(EndpointInChild, HasNoRankNoSegmentAndNoWindow) {
  EXPECT_EQ(in_a_child([&] {
              if (!state_.in_child() || me_.rank() != 0 || me_.ranks() != 0) return 1;
              if (me_.mapped(1, 0, 0, 8) != nullptr || me_.local(GlobalPtr<int>{1, 0}) != nullptr) return 2;
              if (!me_.segment().empty() || me_.segment_bytes(1) != 0) return 3;
              if (state_.segments.check({1, 0}, 8).status().code() != ErrorCode::invalid_argument) return 4;
              if (&me_.state() != &state_) return 5;
              return 0;
            }),
            0);
  EXPECT_FALSE(state_.in_child());
  EXPECT_EQ(me_.rank(), 1u);
  EXPECT_EQ(me_.mapped(1, 0, 8, 8), memory_.data() + 8);
}

// The endpoint has no conduit, so a call that reached one would crash.
TEST_F(EndpointInChild, WaitsForNothingAndEndsWhatWasInFlight) {
  Op* const op = state_.ops.acquire(kPutOfTest, 0, true);
  ++state_.implicit.all.parts;
  Event event(op);
  EXPECT_EQ(in_a_child([&] {
              if (me_.wait(event).code() != ErrorCode::invalid_argument || event.done()) return 1;
              if (me_.wait_implicit().code() != ErrorCode::invalid_argument) return 2;
              while (!me_.test(event)) {
              }
              while (!me_.test_implicit()) {
              }
              if (event.status().code() != ErrorCode::invalid_argument) return 3;
              if (state_.ops.acquire(kPutOfTest, 0, true) != op) return 4;  // it came back to the pool
              return 0;
            }),
            0);
  EXPECT_FALSE(event.done());
  state_.ops.part_ended(*op, {});
  EXPECT_TRUE(me_.wait(event));
}

// In the parent the same is misuse, which ends the program in a checked build.
TEST_F(EndpointInChild, DropsItsParentsEvents) {
  Op* const op = state_.ops.acquire(kPutOfTest, 0, true);
  Event event(op);
  EXPECT_EQ(in_a_child([&] {
              event = Event{};
              return 0;
            }),
            0);
  state_.ops.part_ended(*op, {});
  EXPECT_TRUE(me_.wait(event));
}

}  // namespace
}  // namespace aqueduct::core
