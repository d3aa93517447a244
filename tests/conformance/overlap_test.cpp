#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"

#include <atomic>

namespace aqueduct::conformance {
namespace {

/// The promises of "non-blocking": a call returns whatever the target does, and the
/// Event is done only when the operation is.
class Overlap : public FabricTest {};

struct OverlapBoard {
  std::atomic<bool> started{false};
};

TEST_P(Overlap, StartingNeedsNothingOfTheTarget) {
  Shared<OverlapBoard> board;
  as_each_of(2, 256 * 1024, [&board](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      // Makes no progress until rank 0 has started everything.
      ASSERT_TRUE(idle_until([&] { return board->started.load(); }))
          << "rank 0 was held back by its own calls";
      ASSERT_TRUE(me.barrier());
      EXPECT_TRUE(holds(me.segment().first(200), pattern(7, 200)));
      return;
    }
    const auto sent = pattern(7, 200);
    std::vector<std::byte> read(200);
    std::uint64_t old = 1;
    Event put = put_nb(me, GlobalPtr<std::byte>{1, 0}, sent);
    Event get = get_nb(me, read, GlobalPtr<std::byte>{1, 1000});
    Event add = atomic_nb<AtomicOp::add>(me, GlobalPtr<std::uint64_t>{1, 4096}, 5, &old);
    Event told = signal_nb(me, 1, {0, 1});
    board->started.store(true);
    ASSERT_TRUE(me.wait(put));
    ASSERT_TRUE(me.wait(get));
    ASSERT_TRUE(me.wait(add));
    ASSERT_TRUE(me.wait(told));
    EXPECT_TRUE(all_are(read, std::byte{0}));
    EXPECT_EQ(old, 0u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Overlap, AnEventIsDoneOnlyWhenTheBytesAreThere) {
  Shared<OverlapBoard> board;
  as_each_of(2, 1 << 20, [&board](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      ASSERT_TRUE(idle_until([&] { return board->started.load(); }));
      ASSERT_TRUE(me.barrier());
      return;
    }
    // Rank 1 makes no progress. If the put is done now, its bytes arrived without rank 1's help; then a get needs no
    // help either, and reads them. If the put is not done, the Event must say so.
    const auto sent = pattern(9, 300'000);
    Event put = put_nb(me, GlobalPtr<std::byte>{1, 0}, sent);
    for (int i = 0; i < 1000 && !me.test(put); ++i) {
    }
    const bool done_alone = put.done();
    std::vector<std::byte> read(sent.size());
    Event get = get_nb(me, read, GlobalPtr<std::byte>{1, 0});
    if (done_alone) {
      ASSERT_TRUE(progress_until(me, [&] { return get.done(); })) << "a put needs no help, but a get does";
      EXPECT_TRUE(holds(read, sent)) << "the Event was done before the bytes were there";
    }
    board->started.store(true);
    ASSERT_TRUE(me.wait(put));
    ASSERT_TRUE(me.wait(get));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Overlap, AWaitWithALimitLeavesTheEventAsItWas) {
  Shared<OverlapBoard> board;
  as_each_of(2, 1 << 20, [&board](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      ASSERT_TRUE(idle_until([&] { return board->started.load(); }));
      ASSERT_TRUE(me.barrier());
      EXPECT_TRUE(holds(me.segment().first(500'000), pattern(3, 500'000)));
      return;
    }
    const auto sent = pattern(3, 500'000);
    Event put = put_nb(me, GlobalPtr<std::byte>{1, 0}, sent);
    const Status early = me.wait_for(put, std::chrono::milliseconds(5));
    EXPECT_TRUE(early.ok() ? put.done() : early.code() == ErrorCode::timed_out) << early.text();
    board->started.store(true);
    ASSERT_TRUE(me.wait_for(put, std::chrono::seconds(30)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Overlap, ManyKindsInFlightAtOnceCompleteInAnyOrderOfWaiting) {
  as_each_of(3, 1 << 20, [seed = seed()](Endpoint& me) {
    Random random(seed + me.rank());
    constexpr std::size_t kEach = 200;
    constexpr std::size_t kBytes = 1500;
    std::ranges::copy(pattern(me.rank(), kEach * kBytes), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto sent = pattern(50 + me.rank(), kEach * kBytes);
    std::vector<std::byte> read(kEach * kBytes);
    std::vector<Event> events;
    const GlobalPtr<std::uint64_t> counter{previous(me), (1 << 20) - 8};
    for (std::size_t i = 0; i < kEach; ++i) {
      const std::size_t at = i * kBytes;
      events.push_back(
          put_nb(me, GlobalPtr<std::byte>{next(me), 400'000 + at}, std::span(sent).subspan(at, kBytes)));
      events.push_back(
          get_nb(me, std::span(read).subspan(at, kBytes), GlobalPtr<std::byte>{previous(me), at}));
      events.push_back(atomic_nb<AtomicOp::add>(me, counter, 2));
      events.push_back(signal_nb(me, next(me), {1, 3}));
    }
    while (!events.empty()) {
      std::swap(events[random.below(events.size())], events.back());
      ASSERT_TRUE(me.wait(events.back()));
      events.pop_back();
    }
    EXPECT_TRUE(holds(read, pattern(previous(me), kEach * kBytes)));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(
        holds(me.segment().subspan(400'000, kEach * kBytes), pattern(50 + previous(me), kEach * kBytes)));
    EXPECT_EQ(signal_value(me, 1), 3 * kEach);
    const auto count = load(me, counter.on(me.rank()));
    ASSERT_TRUE(count);
    EXPECT_EQ(*count, 2 * kEach);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Overlap, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
