// Where the buffers of collective calls lie, and what is said of a call.

#include "coll/one_caller.hpp"
#include "kernels/reduce.hpp"
#include "tests/unit/coll/checked_requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace aqueduct::coll::requests {
namespace {

TEST_F(CheckedRequest, ConvertsElementsThatAreTooNarrow) {
  const Request narrow = fits(0, changed([](CollCall& call) {
                                call.type = ElementType::half;
                                call.element = 2;
                              }));
  EXPECT_EQ(narrow.combiner.wide_element, 4u);
  EXPECT_TRUE(narrow.combiner.widen != nullptr && narrow.combiner.narrow != nullptr);
  EXPECT_EQ(narrow.combiner.combine, kernels::combine_of(ElementType::half, ReduceOp::sum));
  EXPECT_EQ(narrow.shape.element, 2u);
  const Request as_is = fits(0, changed([](CollCall&) {}));
  EXPECT_EQ(as_is.combiner.wide_element, 0u);
  EXPECT_EQ(as_is.combiner.widen, nullptr);
}

TEST_F(CheckedRequest, DescribesTheCall) {
  CollCall call = call_of(Collective::reduce, memory(in_.data(), 8), memory(out_.data(), 8), 1);
  call.options = {
      .in = Sync::mine, .out = Sync::none, .order = ReduceOrder::exact, .limit = std::chrono::seconds(1)};
  call.reducer = ReduceOp::bit_xor;
  for (Rank member = 0; member < 3; ++member) {
    const Request request = fits(member, call);
    EXPECT_EQ(request.shape.operation, Collective::reduce);
    EXPECT_EQ(request.shape.in, Sync::mine);
    EXPECT_EQ(request.shape.out, Sync::none);
    EXPECT_EQ(request.shape.order, ReduceOrder::exact);
    EXPECT_EQ(request.shape.addresses, Addresses::local);
    EXPECT_EQ(request.shape.ranks, 3u);
    EXPECT_EQ(request.shape.root, 1u);
    EXPECT_EQ(request.shape.bytes, 8u);
    EXPECT_EQ(request.shape.pitch, 8u);
    EXPECT_EQ(request.description, description_of(call, 3));
    EXPECT_EQ(request.out.mine, member == 1 ? out_.data() : nullptr);
    EXPECT_EQ(request.in.mine, in_.data());
  }
  EXPECT_EQ(description_of(call_of(Collective::all_gather, {}, memory(out_.data(), 24)), 3).bytes, 8u);
  // The order is of reductions alone, so that equal calls have equal shapes.
  call.operation = Collective::all_gather;
  call.out.bytes = 24;
  EXPECT_EQ(fits(0, call).shape.order, ReduceOrder::any);
}

// Members whose calls differ only in that have made the same call.
TEST_F(CheckedRequest, DescribesNothingThatTheOperationDoesNotUse) {
  const auto same = [&](const CollCall& call, const std::function<void(CollCall&)>& change) {
    CollCall other = call;
    change(other);
    EXPECT_EQ(description_of(call, 3), description_of(other, 3));
  };
  const auto differs = [&](const CollCall& call, const std::function<void(CollCall&)>& change) {
    CollCall other = call;
    change(other);
    EXPECT_NE(description_of(call, 3), description_of(other, 3));
  };
  const auto number = [](CollCall& call) { call.reducer.number = 5; };
  const auto op = [](CollCall& call) { call.reducer.op = ReduceOp::max; };
  const auto order = [](CollCall& call) { call.options.order = ReduceOrder::exact; };
  const auto root = [](CollCall& call) { call.root = 2; };
  const CollCall sum = changed([](CollCall&) {});
  same(sum, number);
  same(sum, root);
  differs(sum, op);
  differs(sum, order);
  const CollCall user = changed([](CollCall& call) { call.reducer = Reducer::user(4); });
  differs(user, number);
  const CollCall sends = call_of(Collective::broadcast, {}, memory(out_.data(), 8));
  same(sends, number);
  same(sends, op);
  same(sends, order);
  differs(sends, root);
  const CollCall barrier = call_of(Collective::barrier, {}, {});
  same(barrier, [&](CollCall& call) {
    call.type = ElementType::f64;
    call.element = 8;
    root(call);
    op(call);
    order(call);
  });
  differs(barrier, [](CollCall& call) { call.options.in = Sync::none; });
}

TEST_F(CheckedRequest, DescribesWhatDecidesOverTheAlgorithm) {
  EXPECT_EQ(fits(0, changed([](CollCall&) {})).description.facts, 0);
  const Request known = fits(0, call_of(Collective::all_reduce, {}, common(0, 8)));
  EXPECT_EQ(known.description.facts, CallDescription::kKnownPlaces);
  for (const bool commutative : {false, true}) {
    const std::uint32_t number = commutative ? 1 : 2;
    ASSERT_TRUE(operators_.add(
        number, {[](void*, const void*, const void*, std::size_t, void*) {}, nullptr, 1, commutative}));
    const Request request = fits(0, changed([&](CollCall& call) { call.reducer = Reducer::user(number); }));
    EXPECT_EQ(request.description.facts, commutative ? 0 : CallDescription::kOrdered);
  }
}

TEST_F(CheckedRequest, PutsTheInputWhereSchedulesExpectItInPlace) {
  std::byte* const at = out_.data();
  for (Rank member = 0; member < 3; ++member) {
    const Request gathers = fits(member, call_of(Collective::all_gather, {}, memory(at, 24)));
    EXPECT_EQ(gathers.in.mine, at + 8 * member);
    const Request sends = fits(member, call_of(Collective::broadcast, {}, memory(at, 8), 2));
    EXPECT_EQ(sends.in.mine, member == 2 ? at : nullptr);
    for (const Collective operation : {Collective::all_reduce, Collective::scan, Collective::exscan})
      EXPECT_EQ(fits(member, call_of(operation, {}, memory(at, 8))).in.mine, at);
    // My own block is at another offset on each member, so nobody else may take it for a common place.
    const Request everywhere = fits(member, call_of(Collective::all_gather, {}, common(16, 24)));
    EXPECT_EQ(everywhere.shape.addresses, Addresses::single);
    EXPECT_EQ(everywhere.in.mine, segment(member) + 16 + 8 * member);
    EXPECT_EQ(everywhere.in.known, Buffer::Known::here);
    EXPECT_EQ(everywhere.out.known, Buffer::Known::common);
  }
}

TEST_F(CheckedRequest, KnowsThePlacesOfOtherMembers) {
  const std::vector<GlobalPtr<char>> places{{0, 0}, {1, 64}, {2, 128}};
  const Request each = fits(1, call_of(Collective::all_reduce, {}, listed(places, 8)));
  EXPECT_EQ(each.out.mine, segment(1) + 64);
  EXPECT_EQ(each.out.of(2, 2), (GlobalPtr<std::byte>{2, 128}));
  EXPECT_EQ(each.in.of(0, 0), (GlobalPtr<std::byte>{0, 0}));
  const Request all = fits(1, call_of(Collective::gather, common(8, 8), common(32, 24)));
  EXPECT_EQ(all.in.mine, segment(1) + 8);
  EXPECT_EQ(all.out.mine, nullptr) << "only the root has an output";
  EXPECT_EQ(all.out.of(0, 0), (GlobalPtr<std::byte>{0, 32}));
  // Places of members that have no block are not looked at.
  const std::vector<GlobalPtr<char>> of_root{{0, 0}, {}, {}};
  const Request root = fits(1, call_of(Collective::gather, common(8, 8), listed(of_root, 24)));
  EXPECT_EQ(root.out.of(0, 0), (GlobalPtr<std::byte>{0, 0}));
}

TEST_F(CheckedRequest, LetsMembersThatNeedNoBufferPassNone) {
  for (const CollBuffer& nothing : {CollBuffer{}, memory(nullptr, 0), memory(in_.data(), 5)}) {
    fits(1, call_of(Collective::gather, memory(in_.data(), 8), nothing));
    fits(1, call_of(Collective::reduce, memory(in_.data(), 8), nothing));
    fits(1, call_of(Collective::scatter, nothing, memory(out_.data(), 8)));
    fits(1, call_of(Collective::broadcast, nothing, memory(out_.data(), 8)));
  }
}

TEST_F(CheckedRequest, HasAnAddressForEmptyBlocks) {
  const CollBuffer empty = memory(nullptr, 0);
  for (const Collective operation :
       {Collective::broadcast, Collective::scatter, Collective::gather, Collective::all_gather,
        Collective::all_to_all, Collective::reduce, Collective::all_reduce, Collective::reduce_scatter,
        Collective::scan, Collective::exscan}) {
    const Request request = fits(0, call_of(operation, empty, empty));
    EXPECT_NE(request.in.mine, nullptr);
    EXPECT_NE(request.out.mine, nullptr);
  }
  const Request barrier = fits(0, call_of(Collective::barrier, {}, {}));
  EXPECT_TRUE(barrier.in.mine == nullptr && barrier.out.mine == nullptr && barrier.shape.bytes == 0);
}

TEST_F(CheckedRequest, GivesEachFormOfARefusedCallItsOwnError) {
  // The team is broken after the first one; what is wrong with the arguments is still the answer.
  job_->run_each([](Endpoint& ep) {
    std::array<int, 2> in{};
    std::array<int, 3> out{};
    EXPECT_EQ(all_reduce(ep.world(), in, out, ReduceOp::sum).code(), ErrorCode::invalid_argument);
    Event event = all_reduce_nb(ep.world(), in, out, ReduceOp::sum);
    ASSERT_TRUE(event.done());
    EXPECT_EQ(event.status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(all_reduce_plan(ep.world(), in, out, ReduceOp::sum).status().code(),
              ErrorCode::invalid_argument);
  });
}

TEST_F(CheckedRequest, PlansWithoutAnOperationSaySo) {
  CollPlan none;
  EXPECT_EQ(none.start().status().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(none.run().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(none.end().code(), ErrorCode::invalid_argument);
  CollPlan moved = std::move(none);
  moved = CollPlan();
  EXPECT_EQ(moved.end().code(), ErrorCode::invalid_argument);
}

TEST_F(CheckedRequest, ACallInAHandlersPlaceIsNotOfTheTeamsOrder) {
  Endpoint& ep = job_->endpoint(0);
  std::array<int, 2> data{};
  ep.state().polling = true;
  EXPECT_EQ(all_reduce(ep.world(), data, ReduceOp::sum).code(), ErrorCode::in_handler);
  EXPECT_EQ(all_reduce_nb(ep.world(), data, ReduceOp::sum).status().code(), ErrorCode::in_handler);
  EXPECT_EQ(all_reduce_plan(ep.world(), data, ReduceOp::sum).status().code(), ErrorCode::in_handler);
  ep.state().polling = false;
  // All members make one call now, so the ones before were none.
  job_->run_each([](Endpoint& one) {
    std::array<int, 2> mine{1, 2};
    EXPECT_TRUE(all_reduce(one.world(), mine, ReduceOp::sum));
    EXPECT_EQ(mine, (std::array<int, 2>{3, 6}));
  });
}

TEST_F(CheckedRequest, TwoThreadsInOneTeamsCallsAreMisuse) {
  {
    const OneCaller outer(team(0));
    const OneCaller inner(team(0));  // as of a continuation within a call
    const OneCaller other(team(1));
  }
#ifdef AQUEDUCT_CHECKED
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const OneCaller here(team(0));
        std::thread([&] { const OneCaller there(team(0)); }).join();
      },
      "two threads are in collective calls of one team at once");
#endif
  std::thread([&] { const OneCaller later(team(0)); }).join();
}

}  // namespace
}  // namespace aqueduct::coll::requests
