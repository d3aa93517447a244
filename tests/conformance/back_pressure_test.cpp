#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

constexpr std::size_t kSlots = 4096;  // of 8 bytes

/// More operations in flight than the library has records, the conduit has room, and a peer has credits. A call waits
/// for room or queues; nothing is lost and nothing fails.
class BackPressure : public FabricTest {
 protected:
  /// Runs with as few records and credits as are allowed.
  void run_short_of_everything(Rank ranks, std::size_t segment_bytes, const Body& body) {
    run({ranks, segment_bytes, {{"operations", "16"}, {"credits", "2"}}, {}}, body);
  }
};

TEST_P(BackPressure, ImplicitPutsByTheTenThousand) {
  run_short_of_everything(2, 8 * kSlots, [](Endpoint& me) {
    constexpr std::uint64_t kPuts = 10'000;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      // A slot is reused only after a wait, because overlapping puts are not ordered.
      if (i % kSlots == 0) {
        ASSERT_TRUE(me.wait_implicit());
      }
      value = mix(i + me.rank());
      ASSERT_TRUE(put_value_nbi(me, GlobalPtr<std::uint64_t>{next(me), 8 * (i % kSlots)}, value));
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    std::vector<std::uint64_t> found(kSlots);
    ASSERT_TRUE(get(me, found, GlobalPtr<std::uint64_t>{me.rank(), 0}));
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
      const std::uint64_t last = slot + (kPuts - 1 - slot) / kSlots * kSlots;
      ASSERT_EQ(found[slot], mix(last + previous(me))) << "slot " << slot;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BackPressure, ImplicitGetsByTheTenThousand) {
  run_short_of_everything(2, 8 * kSlots, [](Endpoint& me) {
    constexpr std::uint64_t kGets = 10'000;
    const auto mine = pattern(me.rank(), 8 * kSlots);
    std::ranges::copy(mine, me.segment().begin());
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> read(8 * kGets);
    for (std::uint64_t i = 0; i < kGets; ++i) {
      ASSERT_TRUE(
          get_nbi(me, std::span(read).subspan(8 * i, 8), GlobalPtr<std::byte>{next(me), 8 * (i % kSlots)}));
    }
    ASSERT_TRUE(me.wait_implicit());
    const auto there = pattern(next(me), 8 * kSlots);
    for (std::uint64_t i = 0; i < kGets; i += kSlots) {
      const std::size_t bytes = 8 * std::min<std::uint64_t>(kSlots, kGets - i);
      ASSERT_TRUE(holds(std::span(read).subspan(8 * i, bytes), std::span(there).first(bytes)))
          << "from get " << i;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BackPressure, ImplicitAtomicsByTheTenThousand) {
  run_short_of_everything(2, 64, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 10'000;
    for (std::uint64_t i = 0; i < kEach; ++i) {
      ASSERT_TRUE(atomic_nbi<AtomicOp::add>(me, GlobalPtr<std::uint64_t>{next(me), 0}, 1));
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    const auto total = load(me, GlobalPtr<std::uint64_t>{me.rank(), 0});
    ASSERT_TRUE(total);
    EXPECT_EQ(*total, kEach);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BackPressure, ExplicitOperationsUpToTheSettingAreInFlightTogether) {
  run({.ranks = 2, .segment_bytes = 8 * 4096, .settings = {{"operations", "4096"}, {"credits", "2"}}},
      [](Endpoint& me) {
        std::vector<Event> events;
        std::vector<std::uint64_t> values(4096);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = mix(i + me.rank());
          events.push_back(
              put_nb(me, GlobalPtr<std::uint64_t>{next(me), 8 * i}, std::span(values).subspan(i, 1)));
        }
        for (auto event = events.rbegin(); event != events.rend(); ++event) ASSERT_TRUE(me.wait(*event));
        ASSERT_TRUE(me.barrier());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = mix(i + previous(me));
        EXPECT_TRUE(holds(me.segment(), std::as_bytes(std::span(values))));
        ASSERT_TRUE(me.barrier());
      });
}

TEST_P(BackPressure, LargeTransfersFromAllToAllWithFewCredits) {
  run_short_of_everything(4, 4 << 20, [](Endpoint& me) {
    const std::size_t bytes = reasonable(me, 700'001);
    const auto sent = pattern(me.rank(), bytes);
    std::vector<std::vector<std::byte>> read(me.ranks(), std::vector<std::byte>(bytes));
    for (Rank to = 0; to < me.ranks(); ++to) {
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{to, me.rank() << 20}, sent));
    }
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    for (Rank from = 0; from < me.ranks(); ++from) {
      ASSERT_TRUE(get_nbi(me, read[from], GlobalPtr<std::byte>{next(me), from << 20}));
    }
    ASSERT_TRUE(me.wait_implicit());
    for (Rank from = 0; from < me.ranks(); ++from) ASSERT_TRUE(holds(read[from], pattern(from, bytes)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BackPressure, SignalledPutsByTheThousandWithFewCredits) {
  run_short_of_everything(3, 64 * 1024, [rounds = often(std::uint64_t{5})](Endpoint& me) {
    constexpr std::uint64_t kEach = 1000;
    const auto sent = pattern(me.rank(), 64);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{next(me), 64 * i}, sent, {0, 1}));
      }
      ASSERT_TRUE(wait_until(me, 0, round * kEach, previous(me), std::chrono::seconds(20)));
      for (std::uint64_t i = 0; i < kEach; ++i) {
        ASSERT_TRUE(holds(me.segment().subspan(64 * i, 64), pattern(previous(me), 64)));
      }
      ASSERT_TRUE(me.barrier());
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, BackPressure, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
