#include "core/op.hpp"
#include "core/peer_order.hpp"
#include "core/segment_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::core {
namespace {

constexpr OpKind kFenced{"a put", 0, nullptr, true};
constexpr OpKind kNotFenced{"a get"};
using Next = PeerOrder::Next;

/// Two ranks; the memory of rank 1 is mapped.
class PeerOrderTest : public testing::Test {
 protected:
  PeerOrderTest() {
    std::vector<SegmentPart> parts(2);
    for (SegmentPart& part : parts) part.bytes = memory_.size();
    segments_.add(memory_, std::move(parts));
    SegmentPart& mapped = *segments_[0].part(1);
    mapped.mapped_at = memory_.data();
    segments_.set_window(0, 1, memory_.data(), memory_.size());
  }
  bool window_is_open() { return segments_.mapped({1, 0, 0}, 8) != nullptr; }
  void fence() {
    pool_.count_in(order_);
    order_.fence(1, /*messages=*/false, /*veil=*/true);
  }
  void end(Op& op) {
    pool_.part_ended(op, {});
    static_cast<void>(pool_.collect(op));
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(64);
  SegmentTable segments_{2, 4};
  PeerOrder order_{2, segments_};
  OpPool pool_{16};
  Properties network_;
};

TEST_F(PeerOrderTest, AFenceBehindNothingHoldsNothing) {
  fence();
  EXPECT_FALSE(order_.active());
  EXPECT_TRUE(window_is_open());
}

TEST_F(PeerOrderTest, HoldsWhatFollowsUntilWhatWasInFlightAtTheFirstFenceIsOver) {
  Op& put = *pool_.acquire(kFenced, 1, true);
  Op& get = *pool_.acquire(kNotFenced, 1, true);
  Op& elsewhere = *pool_.acquire(kFenced, 0, true);
  fence();
  EXPECT_TRUE(order_.holds(1, Next::put, network_));
  EXPECT_TRUE(order_.holds(1, Next::packet, network_));
  EXPECT_FALSE(order_.holds(0, Next::put, network_)) << "another peer";
  EXPECT_FALSE(window_is_open()) << "inline puts would pass the fence";
  Op& later = *pool_.acquire(kFenced, 1, true);
  end(put);
  EXPECT_FALSE(order_.holds(1, Next::put, network_)) << "held back by what came after the fence";
  EXPECT_FALSE(order_.active());
  EXPECT_TRUE(window_is_open());
  end(later);
  end(get);
  end(elsewhere);
}

TEST_F(PeerOrderTest, ASecondFenceAlsoWaitsForWhatCameBetween) {
  fence();
  Op& first = *pool_.acquire(kFenced, 1, true);
  fence();
  Op& second = *pool_.acquire(kFenced, 1, true);
  fence();
  end(second);
  EXPECT_TRUE(order_.holds(1, Next::other, network_));
  end(first);
  EXPECT_FALSE(order_.active());
}

TEST_F(PeerOrderTest, WhatTheNetworkOrdersIsNotHeldBack) {
  fence();
  Op& put = *pool_.acquire(kFenced, 1, true);
  order_.keeps_order_of(put);
  fence();
  EXPECT_TRUE(order_.holds(1, Next::put, network_)) << "this network keeps no order";
  network_.put_before_put = true;
  EXPECT_FALSE(order_.holds(1, Next::put, network_));
  EXPECT_TRUE(order_.holds(1, Next::packet, network_));
  network_.put_before_send = true;
  EXPECT_FALSE(order_.holds(1, Next::packet, network_));
  EXPECT_TRUE(order_.holds(1, Next::other, network_))
      << "a store to mapped memory passes what is on the wire";
  EXPECT_FALSE(window_is_open());
  end(put);
  EXPECT_TRUE(window_is_open());
}

TEST_F(PeerOrderTest, AnOperationThatWaitsHoldsBackThoseBehindIt) {
  Op& put = *pool_.acquire(kFenced, 1, true);
  fence();
  Op& held = *pool_.acquire(kFenced, 1, true);
  order_.ended(held);  // it is not in flight
  EXPECT_FALSE(order_.queue(1));
  fence();  // stands behind it
  Op& behind = *pool_.acquire(kFenced, 1, true);
  order_.ended(behind);
  EXPECT_TRUE(order_.queue(1)) << "the second fence was forgotten";
  EXPECT_TRUE(order_.blocks(1, Next::other, network_));
  end(put);
  EXPECT_FALSE(order_.blocks(1, Next::other, network_));
  EXPECT_TRUE(order_.holds(1, Next::other, network_)) << "it may not pass those that wait";
  order_.begun(held);
  order_.unqueue(1);
  order_.pass_fence(1);
  EXPECT_TRUE(order_.blocks(1, Next::other, network_)) << "the second fence has no effect";
  end(held);
  EXPECT_FALSE(order_.blocks(1, Next::other, network_));
  order_.begun(behind);
  order_.unqueue(1);
  EXPECT_FALSE(order_.active());
  EXPECT_TRUE(window_is_open());
  end(behind);
}

TEST_F(PeerOrderTest, AFenceBehindTheLastThatWaitsTakesEffectWhenItBegins) {
  Op& put = *pool_.acquire(kFenced, 1, true);
  fence();
  Op& held = *pool_.acquire(kFenced, 1, true);
  order_.ended(held);
  EXPECT_FALSE(order_.queue(1));
  fence();
  end(put);
  order_.begun(held);
  order_.unqueue(1);
  EXPECT_TRUE(order_.holds(1, Next::put, network_));
  end(held);
  EXPECT_FALSE(order_.active());
}

TEST_F(PeerOrderTest, MessagesHoldBackNoPut) {
  pool_.count_in(order_);
  order_.fence(1, /*messages=*/true, /*veil=*/true);
  EXPECT_TRUE(order_.active());
  EXPECT_TRUE(order_.messages(1));
  EXPECT_FALSE(order_.holds(1, Next::put, network_));
  EXPECT_TRUE(window_is_open());
  order_.messages_arrived(1);
  EXPECT_FALSE(order_.active());
}

TEST_F(PeerOrderTest, ALostPeerHoldsBackNothingOnceItsOperationsAreOver) {
  Op& put = *pool_.acquire(kFenced, 1, true);
  fence();
  EXPECT_FALSE(order_.queue(1));
  segments_.forget(1);
  order_.forget(1);
  end(put);
  EXPECT_FALSE(order_.active());
  EXPECT_FALSE(window_is_open()) << "the window of a lost rank opened again";
}

}  // namespace
}  // namespace aqueduct::core
