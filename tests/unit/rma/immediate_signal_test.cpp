// An immediate put with a signal that is refused has changed nothing, also where the bytes are mapped and what follows
// them is not. Both ranks are on one thread.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "core/signals.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::rma {
namespace {

constexpr std::uint64_t kPlace = 64;
constexpr SignalSlot kSlot = 3;
constexpr PutOptions kImmediate{.immediate = true};

class ImmediateSignal : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    for (const auto& [name, value] :
         {std::pair{"conduit", "smp"}, {"segment_bytes", "4K"}, {"credits", "1"}, {"operations", "16"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
    std::array<Status, 2> outcomes;
    job_->run_each([&](Endpoint& ep) {
      const auto handler = on_short_request<NoArguments>(ep, [](RequestContext&, const NoArguments&) {});
      const auto segment = Segment::create(ep, 4096);
      outcomes[ep.rank()] = handler ? segment.status() : handler.status();
      if (ep.rank() == 0 && handler) handler_ = *handler;
      if (ep.rank() == 0 && segment) words_ = segment->id();
    });
    for (const Status outcome : outcomes) ASSERT_TRUE(outcome);
  }
  Endpoint& me() { return job_->endpoint(0); }
  Endpoint& peer() { return job_->endpoint(1); }
  /// The peer's part of a segment cannot be mapped here, as where the system has no descriptor left.
  void hide(SegmentId segment) {
    auto& segments = me().state().segments;
    segments.veil(1, true);
    core::SegmentPart& part = *segments[segment].part(1);
    part.reach = core::SegmentPart::Reach::reference;
    part.mapped_at = nullptr;
    segments.veil(1, false);
  }
  /// Takes the only credit: what needs a packet to the peer has to wait.
  void fill() { ASSERT_TRUE(request(me(), 1, handler_)); }
  void TearDown() override {
    for (core::Op* const op : taken_) me().state().ops.take_back(*op);  // the end of the job needs records
  }
  /// Takes all records of operations.
  void take_records() {
    for (const bool is_explicit : {false, true}) {
      while (core::Op* const op = me().state().ops.acquire(core::kGroup, kNoRank, is_explicit))
        taken_.push_back(op);
    }
  }
  std::uint64_t bytes_of_peer() {
    std::uint64_t word = 0;
    std::memcpy(&word, peer().segment().data() + kPlace, sizeof word);
    return word;
  }
  bool until(const std::function<bool()>& condition) {
    const auto both = [&] {
      peer().progress();
      return condition();
    };
    return me().wait_until(both, std::chrono::seconds(20)).ok();
  }
  Event put_nb(std::uint64_t value, bool slot) {
    const std::array<std::uint64_t, 1> sent{value};  // mapped: read in the call
    return slot ? put_signal_nb(me(), place_, sent, Signal{kSlot, 5}, kImmediate)
                : put_signal_nb(me(), place_, sent, SignalWord{word(), 5, SignalOp::set}, kImmediate);
  }
  Status put_nbi(std::uint64_t value, bool slot) {
    const std::array<std::uint64_t, 1> sent{value};
    return slot ? put_signal_nbi(me(), place_, sent, Signal{kSlot, 5}, kImmediate)
                : put_signal_nbi(me(), place_, sent, SignalWord{word(), 5, SignalOp::set}, kImmediate);
  }
  GlobalPtr<std::uint64_t> word() const { return {1, 8, words_}; }
  std::uint64_t signalled(bool slot) {
    if (slot) return signal_value(peer(), kSlot);
    std::uint64_t value = 0;
    std::memcpy(&value, peer().segment_of(words_).data() + 8, sizeof value);
    return value;
  }
  SegmentId hidden(bool slot) const { return slot ? core::kSignalSegment : words_; }

  std::optional<Job> job_;
  std::vector<core::Op*> taken_;
  ShortRequest<NoArguments> handler_;
  SegmentId words_ = 0;
  const GlobalPtr<std::uint64_t> place_{1, kPlace};
};

class Signals : public ImmediateSignal, public testing::WithParamInterface<bool> {};

TEST_P(Signals, WithoutRoomFollowTheirBytesLater) {
  ASSERT_NO_FATAL_FAILURE(hide(hidden(GetParam())));
  ASSERT_NO_FATAL_FAILURE(fill());
  Event event = put_nb(7, GetParam());
  ASSERT_FALSE(event.done()) << event.status().text() << ", and the bytes are " << bytes_of_peer();
  EXPECT_EQ(bytes_of_peer(), 7u);
  EXPECT_EQ(signalled(GetParam()), 0u);
  ASSERT_TRUE(until([&] { return event.done(); }));
  EXPECT_TRUE(event.status());
  EXPECT_EQ(signalled(GetParam()), 5u);
}

TEST_P(Signals, WithoutRoomBelongToTheirGroup) {
  ASSERT_NO_FATAL_FAILURE(hide(hidden(GetParam())));
  ASSERT_NO_FATAL_FAILURE(fill());
  const Status begun = put_nbi(7, GetParam());
  ASSERT_TRUE(begun) << begun.text() << ", and the bytes are " << bytes_of_peer();
  EXPECT_EQ(bytes_of_peer(), 7u);
  ASSERT_TRUE(until([&] { return me().test_implicit(); }));
  EXPECT_TRUE(me().wait_implicit());
  EXPECT_EQ(signalled(GetParam()), 5u);
}

TEST_P(Signals, WithoutARecordAreRefusedBeforeTheBytes) {
  ASSERT_NO_FATAL_FAILURE(hide(hidden(GetParam())));
  take_records();
  Event event = put_nb(7, GetParam());
  ASSERT_TRUE(event.done());
  EXPECT_EQ(event.status().code(), ErrorCode::refused);
  EXPECT_EQ(put_nbi(7, GetParam()).code(), ErrorCode::refused);
  EXPECT_EQ(bytes_of_peer(), 0u) << "refused, and the bytes are there";
}

TEST_P(Signals, ByAnInstructionNeedNoRecord) {
  take_records();
  Event event = put_nb(7, GetParam());
  ASSERT_TRUE(event.done());
  EXPECT_TRUE(event.status());
  EXPECT_TRUE(put_nbi(8, GetParam()));
  EXPECT_EQ(bytes_of_peer(), 8u);
  EXPECT_EQ(signalled(GetParam()), GetParam() ? 10u : 5u);
}

INSTANTIATE_TEST_SUITE_P(Of, Signals, testing::Bool(),
                         [](const auto& info) { return info.param ? "Counters" : "Words"; });

}  // namespace
}  // namespace aqueduct::rma
