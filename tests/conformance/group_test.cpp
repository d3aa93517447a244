#include <aqueduct/vis.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/support/forked.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <thread>

namespace aqueduct::conformance {
namespace {

class Groups : public FabricTest {};

TEST_P(Groups, OfPutsAndGetsAreOpenAtATimeAndWaitedForInAnyOrder) {
  as_each_of(3, 64 * 1024, [](Endpoint& me) {
    constexpr std::size_t kGroups = 4;
    constexpr std::size_t kPuts = 8;
    constexpr std::size_t kBytes = 900;
    const auto sent = pattern(me.rank(), kGroups * kPuts * kBytes);
    std::array<std::unique_ptr<Group>, kGroups> groups;
    for (auto& group : groups) group = std::make_unique<Group>(me);
    for (std::size_t i = 0; i < kGroups * kPuts; ++i) {
      const std::size_t at = i * kBytes;
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), at}, std::span(sent).subspan(at, kBytes),
                          {.group = groups[i % kGroups].get()}));
    }
    std::vector<std::byte> read(sent.size());
    for (std::size_t g = kGroups; g-- > 0;) {
      ASSERT_TRUE(groups[g]->wait());
      EXPECT_TRUE(groups[g]->done());
      EXPECT_EQ(groups[g]->in_flight(), 0u);
      // What this group has put can be got, in the same group, though others may still be open.
      for (std::size_t i = g; i < kGroups * kPuts; i += kGroups) {
        ASSERT_TRUE(get_nbi(me, std::span(read).subspan(i * kBytes, kBytes),
                            GlobalPtr<std::byte>{next(me), i * kBytes}, {.group = groups[g].get()}));
      }
      ASSERT_TRUE(groups[g]->wait());
    }
    EXPECT_TRUE(holds(read, sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, RegionsAndImplicitOperationsAreApart) {
  as_each_of(2, 256 * 1024, [](Endpoint& me) {
    constexpr std::size_t kBytes = 40'000;
    const auto sent = pattern(me.rank(), 4 * kBytes);
    const auto part = [&](std::size_t i) { return std::span(sent).subspan(i * kBytes, kBytes); };
    const auto there = [&](std::size_t i) { return GlobalPtr<std::byte>{next(me), i * kBytes}; };
    Group named(me);
    Group other(me);
    ASSERT_TRUE(put_nbi(me, there(0), part(0)));
    ASSERT_TRUE(me.begin_region());
    ASSERT_TRUE(put_nbi(me, there(1), part(1)));
    ASSERT_TRUE(put_nbi(me, there(2), part(2), {.group = &named}));
    Event region = me.end_region();
    ASSERT_TRUE(put_nbi(me, there(3), part(3), {.group = &other}));
    ASSERT_TRUE(named.wait());
    std::vector<std::byte> read(kBytes);
    const auto arrived = [&](std::size_t i) {
      return get(me, read, there(i)) ? holds(read, part(i)) : testing::AssertionFailure() << "get " << i;
    };
    EXPECT_TRUE(arrived(2));
    ASSERT_TRUE(me.wait(region));
    EXPECT_TRUE(arrived(1));
    ASSERT_TRUE(me.wait_implicit());
    EXPECT_TRUE(arrived(0));
    ASSERT_TRUE(other.wait());
    EXPECT_TRUE(arrived(3));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, OfTenThousandOperationsAreUsedAgain) {
  as_each_of(2, 8 * 1024, [](Endpoint& me) {
    constexpr std::uint64_t kWords = 1024;
    const std::uint64_t first = reasonable(me, 100'000) < 100'000 ? 1'500 : 10'000;
    constexpr std::uint64_t kAgain = 100;
    Group group(me);
    for (const std::uint64_t operations : {first, kAgain}) {
      for (std::uint64_t i = 0; i < operations; ++i) {
        ASSERT_TRUE(atomic_nbi<AtomicOp::add>(me, GlobalPtr<std::uint64_t>{next(me), i % kWords * 8}, 1,
                                              nullptr, {.group = &group}));
      }
      ASSERT_TRUE(group.wait());
    }
    ASSERT_TRUE(me.barrier());
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < kWords; ++i) {
      sum += *load(me, GlobalPtr<std::uint64_t>{me.rank(), i * 8});
    }
    EXPECT_EQ(sum, first + kAgain);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, TellWhenTheirSourcesAreFree) {
  as_each_of(2, 256 * 1024, [](Endpoint& me) {
    constexpr std::size_t kPuts = 20;
    constexpr std::size_t kBytes = 6'000;
    std::vector<std::byte> source = pattern(me.rank(), kPuts * kBytes);
    Group group(me);
    for (std::size_t i = 0; i < kPuts; ++i) {
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), i * kBytes},
                          std::span(source).subspan(i * kBytes, kBytes),
                          {.source = SourceReuse::on_event, .group = &group}));
    }
    EXPECT_LE(group.sources_in_flight(), group.in_flight()) << "a source is free when its put is over";
    ASSERT_TRUE(group.wait_source());
    EXPECT_TRUE(group.source_done());
    std::ranges::fill(source, std::byte{0xee});  // no put reads it any more
    ASSERT_TRUE(group.wait());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(kPuts * kBytes), pattern(previous(me), kPuts * kBytes)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, CountMessagesUntilTheirPayloadIsFree) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::uint64_t sum = 0;
    std::uint64_t handled = 0;
    const auto add = on_medium_request<NoArguments>(me, [&](auto&, const NoArguments&, auto payload) {
      for (const std::byte b : payload) sum += std::to_integer<std::uint64_t>(b);
      ++handled;
    });
    ASSERT_TRUE(add);
    ASSERT_TRUE(me.barrier());
    constexpr std::uint64_t kMessages = 200;
    std::vector<std::byte> payload(std::min<std::size_t>(100, least_limits(me).medium), std::byte{3});
    Group group(me);
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      ASSERT_TRUE(request(me, next(me), *add, {}, payload, {.group = &group}));
      if (i % 20 != 19) continue;
      ASSERT_TRUE(group.wait_source());
      std::ranges::fill(payload, std::byte{0xff});
      ASSERT_TRUE(group.wait());
      std::ranges::fill(payload, std::byte{3});
    }
    ASSERT_TRUE(progress_until(me, [&] { return handled == kMessages; }));
    EXPECT_EQ(sum, 3 * kMessages * payload.size());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, TakeTransfersOfPieces) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    constexpr std::size_t kPieces = 30;
    constexpr std::size_t kBytes = 40;
    const auto sent = pattern(me.rank(), kPieces * kBytes);
    std::vector<std::int64_t> there;
    std::vector<std::int64_t> here;
    for (std::size_t i = 0; i < kPieces; ++i) {
      there.push_back(static_cast<std::int64_t>(i * 100 + i % 3));
      here.push_back(static_cast<std::int64_t>(i * kBytes));
    }
    const RemotePieces far = pieces(GlobalPtr<std::byte>{next(me), 0}, Indexed{there, kBytes});
    std::vector<std::byte> read(sent.size());
    Group puts(me);
    Group gets(me);
    ASSERT_TRUE(put_nbi(me, far, pieces(sent.data(), Indexed{here, kBytes}),
                        {.source = SourceReuse::on_event, .group = &puts}));
    ASSERT_TRUE(puts.wait_source());
    ASSERT_TRUE(puts.wait());
    ASSERT_TRUE(get_nbi(me, pieces(read.data(), Indexed{here, kBytes}), far, {.group = &gets}));
    ASSERT_TRUE(gets.wait());
    EXPECT_TRUE(holds(read, sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, AreNotJoinedByWhatFailsAtItsBeginning) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 2000);
    Group group(me);
    EXPECT_EQ(put_nbi(me, GlobalPtr<std::byte>{next(me), 4000}, sent, {.group = &group}).code(),
              ErrorCode::out_of_range);
    EXPECT_EQ(put_nbi(me, GlobalPtr<std::byte>{me.ranks(), 0}, sent,
                      {.source = SourceReuse::on_event, .group = &group})
                  .code(),
              ErrorCode::out_of_range);
    EXPECT_TRUE(group.done());
    EXPECT_TRUE(group.source_done());
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent, {.group = &group}));
    EXPECT_TRUE(group.wait()) << "the outcome of what joined only";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, CountWhatWasAcceptedOfImmediateCallsAndNothingElse) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 64);
    // Connects: without a connection some networks have no room, and immediate calls make no progress.
    ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
    Group group(me);
    std::vector<std::size_t> accepted;
    for (std::size_t i = 0; i < 900; ++i) {
      const Status status = put_nbi(me, GlobalPtr<std::byte>{next(me), i * 64}, sent,
                                    {.source = SourceReuse::on_event, .immediate = true, .group = &group});
      if (status) accepted.push_back(i);
      ASSERT_TRUE(status || status.code() == ErrorCode::refused) << status.text();
      ASSERT_LE(group.in_flight(), accepted.size());
    }
    // A network with hardly any room may have refused all of them.
    ASSERT_TRUE(progress_until(me, [&] {
      if (accepted.empty() && put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent,
                                      {.source = SourceReuse::on_event, .immediate = true, .group = &group}))
        accepted.push_back(0);
      return !accepted.empty();
    }));
    ASSERT_TRUE(progress_until(me, [&] { return group.test_source(); }));
    ASSERT_TRUE(progress_until(me, [&] { return group.test(); }));
    EXPECT_TRUE(group.wait());
    ASSERT_TRUE(me.barrier());
    std::vector<std::byte> there(64);
    ASSERT_TRUE(get(me, there, GlobalPtr<std::byte>{next(me), accepted.back() * 64}));
    EXPECT_TRUE(holds(there, sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Groups, OfNothingAreDoneAndWaitWithinALimit) {
  as_each_of(1, 64, [](Endpoint& me) {
    Group none(me);
    EXPECT_TRUE(none.done() && none.source_done() && none.test() && none.test_source());
    EXPECT_TRUE(none.wait());
    EXPECT_TRUE(none.wait_source());
    EXPECT_TRUE(none.wait_for(std::chrono::nanoseconds(0)));
    EXPECT_EQ(none.sources_in_flight(), 0u);
  });
}

TEST_P(Groups, WithALostPeerEndAndAreUsedAgain) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = 64 * 1024, .leaving = {2}}, [](Endpoint& me) {
    constexpr Rank kLeaving = 2;
    ASSERT_TRUE(me.barrier());
    if (me.rank() == kLeaving) {
      ASSERT_TRUE(wait_until(me, 3, 2, kAnyRank, std::chrono::seconds(10)));
      std::raise(SIGKILL);
    }
    static_cast<void>(signal(me, kLeaving, {3, 1}));
    const auto sent = pattern(me.rank(), 3000);
    Group group(me);
    const bool lost = progress_until(me, [&] {
      const Status put = put_nbi(me, GlobalPtr<std::byte>{kLeaving, 3000 * me.rank()}, sent,
                                 {.source = SourceReuse::on_event, .group = &group});
      EXPECT_TRUE(put || put.code() == ErrorCode::peer_lost) << put.text();
      return me.is_lost(kLeaving) && !put;
    });
    ASSERT_TRUE(lost) << "the loss was not noticed";
    const Status outcome = group.wait_for(std::chrono::seconds(10));
    EXPECT_TRUE(outcome || outcome.code() == ErrorCode::peer_lost) << outcome.text();
    EXPECT_EQ(group.in_flight(), 0u);
    EXPECT_TRUE(group.source_done());
    EXPECT_TRUE(group.wait()) << "the failure is told once";
    const Rank other = 1 - me.rank();
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{other, 0}, sent, {.group = &group}));
    ASSERT_TRUE(group.wait());
    ASSERT_TRUE(signal(me, other, {4, 1}));
    ASSERT_TRUE(wait_until(me, 4, 1, other, std::chrono::seconds(10)));
    EXPECT_TRUE(holds(me.segment().first(3000), pattern(other, 3000)));
  });
}

TEST_P(Groups, AreRefusedInAForkedChild) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 60'000);
    Group group(me);
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent, {.group = &group}));
    EXPECT_EQ(support::in_a_child([&] {
                if (group.wait().code() != ErrorCode::invalid_argument) return 1;
                Group mine(me);
                if (put_nbi(me, GlobalPtr<std::byte>{0, 0}, sent, {.group = &mine}).code() !=
                    ErrorCode::invalid_argument)
                  return 2;
                while (!group.test()) me.progress();
                return mine.done() ? 0 : 3;
              }),
              0);
    EXPECT_TRUE(group.wait());
    ASSERT_TRUE(me.barrier());
  });
}

class SharedEvents : public FabricTest {};

TEST_P(SharedEvents, GiveEveryCopyTheSameOutcome) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 50'000);
    SharedEvent good = share(put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent));
    SharedEvent bad = share(put_nb(me, GlobalPtr<std::byte>{next(me), 64'000}, sent));
    SharedEvent copy = good;
    SharedEvent none;
    EXPECT_TRUE(copy.wait(me));
    EXPECT_TRUE(good.done() && good.test(me));
    EXPECT_TRUE(good.status());
    EXPECT_EQ(bad.wait(me).code(), ErrorCode::out_of_range);
    EXPECT_EQ(SharedEvent(bad).status(), bad.status());
    EXPECT_TRUE(none.wait(me));
    none = good;
    good = SharedEvent();
    EXPECT_TRUE(none.status());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(50'000), pattern(previous(me), 50'000)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SharedEvents, AndEventsArePointersToAForeignLayer) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 20'000);
    const GlobalPtr<std::byte> there{next(me), 0};
    const GlobalPtr<std::byte> outside{next(me), 60'000};
    void* one = put_nb(me, there, sent).release();
    void* shared = share(put_nb(me, there, sent)).release();
    void* wrong = put_nb(me, outside, sent).release();
    void* shared_wrong = share(put_nb(me, outside, sent)).release();
    EXPECT_TRUE(me.wait(Event::adopt(one)));
    EXPECT_TRUE(SharedEvent::adopt(shared).wait(me));
    const Status expected{ErrorCode::out_of_range, me.wait(put_nb(me, outside, sent)).peer()};
    EXPECT_EQ(me.wait(Event::adopt(wrong)), expected);
    EXPECT_EQ(SharedEvent::adopt(shared_wrong).wait(me), expected);
    EXPECT_EQ(Event().release(), nullptr);
    EXPECT_EQ(SharedEvent().release(), nullptr);
    EXPECT_TRUE(Event::adopt(nullptr).done());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SharedEvents, AreLookedAtAndDroppedByAnotherThread) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 30'000);
    constexpr int kRounds = 50;
    for (int i = 0; i < kRounds; ++i) {
      SharedEvent mine = share(put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      std::thread other([copy = mine] {
        while (!copy.done()) std::this_thread::yield();
        EXPECT_TRUE(copy.status());
      });
      EXPECT_TRUE(mine.wait(me));
      mine = SharedEvent();  // the other thread's may be the last one
      other.join();
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Groups, testing::ValuesIn(fabrics()), fabric_name);
INSTANTIATE_TEST_SUITE_P(On, SharedEvents, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
