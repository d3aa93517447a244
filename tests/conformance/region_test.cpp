#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

class Region : public FabricTest {};

TEST_P(Region, TurnsAGroupOfPutsAndGetsIntoOneEvent) {
  as_each_of(3, 128 * 1024, [](Endpoint& me) {
    constexpr std::size_t kPieces = 100;
    constexpr std::size_t kBytes = 500;
    constexpr std::size_t kHalf = 64 * 1024;
    std::ranges::copy(pattern(me.rank(), kHalf), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto sent = pattern(50 + me.rank(), kPieces * kBytes);
    std::vector<std::byte> read(kPieces * kBytes);
    ASSERT_TRUE(me.begin_region());
    for (std::size_t i = 0; i < kPieces; ++i) {
      const std::size_t at = i * kBytes;
      ASSERT_TRUE(
          put_nbi(me, GlobalPtr<std::byte>{next(me), kHalf + at}, std::span(sent).subspan(at, kBytes)));
      ASSERT_TRUE(get_nbi(me, std::span(read).subspan(at, kBytes), GlobalPtr<std::byte>{previous(me), at}));
    }
    Event all = me.end_region();
    ASSERT_TRUE(me.wait(all));
    EXPECT_TRUE(holds(read, pattern(previous(me), read.size())));
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().subspan(kHalf, sent.size()), pattern(50 + previous(me), sent.size())));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Region, OfNothingIsDoneAtOnce) {
  as_each_of(1, 64, [](Endpoint& me) {
    ASSERT_TRUE(me.begin_region());
    Event none = me.end_region();
    EXPECT_TRUE(none.done());
    EXPECT_TRUE(me.wait(none));
    EXPECT_TRUE(me.wait_implicit());
    EXPECT_TRUE(me.test_implicit());
  });
}

TEST_P(Region, DoesNotNestAndCanBeOpenedAgain) {
  as_each_of(2, 64, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 16);
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(me.begin_region());
      EXPECT_EQ(me.begin_region().code(), ErrorCode::invalid_argument);
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      EXPECT_TRUE(me.wait(me.end_region()));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(16), pattern(previous(me), 16)));
  });
}

TEST_P(Region, AndTheRestAreWaitedForApart) {
  as_each_of(2, 256 * 1024, [](Endpoint& me) {
    const auto outside = pattern(me.rank(), 100'000);
    const auto inside = pattern(10 + me.rank(), 100'000);
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, outside));
    ASSERT_TRUE(me.begin_region());
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 100'000}, inside));
    Event region = me.end_region();
    // Waits for the others first; the region is waited for later.
    ASSERT_TRUE(me.wait_implicit());
    std::vector<std::byte> read(100'000);
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{next(me), 0}));
    EXPECT_TRUE(holds(read, outside));
    ASSERT_TRUE(me.wait(region));
    ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{next(me), 100'000}));
    EXPECT_TRUE(holds(read, inside));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Region, SeveralMayBeInFlight) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    constexpr std::size_t kBytes = 4000;
    const auto sent = pattern(me.rank(), 16 * kBytes);
    std::vector<Event> regions;
    for (std::size_t i = 0; i < 16; ++i) {
      ASSERT_TRUE(me.begin_region());
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t at = i * kBytes + half * kBytes / 2;
        ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), at}, std::span(sent).subspan(at, kBytes / 2)));
      }
      regions.push_back(me.end_region());
    }
    for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
      ASSERT_TRUE(me.wait(*region));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(16 * kBytes), pattern(previous(me), 16 * kBytes)));
  });
}

TEST_P(Region, IsNotForHandlersToOpenOrClose) {
  as_each_of(2, 64, [](Endpoint& me) {
    int requests = 0;
    Status opened;
    Status closed;
    const auto handler = on_short_request<NoArguments>(me, [&](RequestContext&, const NoArguments&) {
      opened = me.begin_region();
      closed = me.end_region().status();
      ++requests;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const auto sent = pattern(me.rank(), 16);
    ASSERT_TRUE(me.begin_region());
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent));
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(me.wait_until([&] { return requests == 1; }, std::chrono::seconds(20), previous(me)));
    Event region = me.end_region();
    EXPECT_TRUE(me.wait(region)) << "the handler has taken the region";
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));  // without an open one
    ASSERT_TRUE(me.wait_until([&] { return requests == 2; }, std::chrono::seconds(20), previous(me)));
    EXPECT_EQ(opened.code(), ErrorCode::in_handler);
    EXPECT_EQ(closed.code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(16), pattern(previous(me), 16)));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Region, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
