#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SignalWords : public FabricTest {};

constexpr std::uint64_t kSignalWordsAt = 0;  // the words that signals change: the first bytes of the segment
constexpr std::uint64_t kAnnouncedAt = 128;  // the bytes that they announce
GlobalPtr<std::uint64_t> signal_word(Rank rank, std::uint64_t index) {
  return {rank, kSignalWordsAt + index * sizeof(std::uint64_t)};
}

// M-23.
TEST_P(SignalWords, WhoSeesTheSumSeesTheBytes) {
  as_each_of(2, 1 << 20, [](Endpoint& me) {
    std::uint64_t round = 0;
    // A put with a word in one packet has 16 bytes less of arguments than the largest message.
    for (const std::size_t size :
         sizes_around({least_limits(me).medium, least_limits(me).medium + 16}, reasonable(me, 300'000))) {
      ++round;
      const auto sent = pattern(1000 * round + me.rank(), size);
      const GlobalPtr<std::byte> to{next(me), kAnnouncedAt};
      ASSERT_TRUE(put_signal(me, to, sent, SignalWord{signal_word(next(me), 0), 3, SignalOp::add}));
      ASSERT_TRUE(wait_on(me, signal_word(me.rank(), 0), Comparison::greater_equal, 3 * round, seconds(20),
                          previous(me)));
      ASSERT_TRUE(holds(me.segment().subspan(kAnnouncedAt, size), pattern(1000 * round + previous(me), size)))
          << size << " bytes";
      // Tells the writer that its bytes have been checked. An atomic would do as well.
      ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{previous(me), kAnnouncedAt},
                             std::span<const std::byte>{},
                             SignalWord{signal_word(previous(me), 1), round, SignalOp::set}));
      ASSERT_TRUE(wait_on(me, signal_word(me.rank(), 1), Comparison::equal, round, seconds(20), next(me)));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(*load(me, signal_word(me.rank(), 0)), 3 * round);
  });
}

TEST_P(SignalWords, SetStoresTheValueInAllForms) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const Rank to = next(me);
    std::uint64_t round = 100;
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{30'000}}) {
      for (const Form form : kForms) {
        round += 7;
        const auto sent = pattern(round + me.rank(), size);
        const GlobalPtr<std::byte> place{to, kAnnouncedAt};
        const SignalWord what{signal_word(to, 2), round, SignalOp::set};
        if (form == Form::blocking) {
          ASSERT_TRUE(put_signal(me, place, sent, what));
        } else if (form == Form::nb) {
          Event event = put_signal_nb(me, place, sent, what, {.source = SourceReuse::at_return});
          ASSERT_TRUE(me.wait(event));
        } else {
          if (form == Form::region) {
            ASSERT_TRUE(me.begin_region());
          }
          ASSERT_TRUE(put_signal_nbi(me, place, sent, what));
          ASSERT_TRUE(form == Form::region ? me.wait(me.end_region()) : me.wait_implicit());
        }
        ASSERT_TRUE(
            wait_on(me, signal_word(me.rank(), 2), Comparison::equal, round, seconds(20), previous(me)))
            << name_of(form) << " of " << size << " bytes";
        ASSERT_TRUE(holds(me.segment().subspan(kAnnouncedAt, size), pattern(round + previous(me), size)))
            << name_of(form) << " of " << size << " bytes";
        ASSERT_TRUE(me.barrier());
      }
    }
  });
}

// M-24, M-25.
TEST_P(SignalWords, OfAllRanksAddUpExactlyBesideAtomics) {
  as_each_of(4, 4096, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 60;
    const auto sent = pattern(me.rank(), 64);
    std::vector<Event> events;
    for (std::uint64_t i = 1; i <= kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        const GlobalPtr<std::byte> place{to, kAnnouncedAt + 64 * std::uint64_t{me.rank()}};
        events.push_back(put_signal_nb(me, place, sent, SignalWord{signal_word(to, 3), i}));
        events.push_back(atomic_nb<AtomicOp::add>(me, signal_word(to, 3), 1));
      }
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    const std::uint64_t sum = me.ranks() * (kEach * (kEach + 1) / 2 + kEach);
    ASSERT_TRUE(wait_on(me, signal_word(me.rank(), 3), Comparison::equal, sum, seconds(20)));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(*load(me, signal_word(me.rank(), 3)), sum);
    EXPECT_EQ(*load(me, signal_word(me.rank(), 4)), 0u) << "a neighbouring word was changed";
  });
}

TEST_P(SignalWords, MayBeInAnotherSegmentThanTheBytes) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    auto flags = Segment::create(me.world(), 4096);
    ASSERT_TRUE(flags);
    ASSERT_TRUE(me.barrier());
    std::uint64_t round = 0;
    for (const std::size_t size : {std::size_t{8}, std::size_t{40'000}}) {
      ++round;
      const auto sent = pattern(round + me.rank(), size);
      const GlobalPtr<std::uint64_t> flag{next(me), 4088, flags->id()};
      ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{next(me), 0}, sent, SignalWord{flag, 1}));
      ASSERT_TRUE(wait_on(me, flag.on(me.rank()), Comparison::equal, round, seconds(20), previous(me)));
      EXPECT_TRUE(holds(me.segment().first(size), pattern(round + previous(me), size))) << size << " bytes";
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(SignalWords, ToMyselfWorkToo) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 1000);
    const GlobalPtr<std::byte> here{me.rank(), kAnnouncedAt};
    ASSERT_TRUE(put_signal(me, here, sent, SignalWord{signal_word(me.rank(), 5), 5}));
    ASSERT_TRUE(wait_on(me, signal_word(me.rank(), 5), Comparison::equal, 5, seconds(20)));
    EXPECT_TRUE(holds(me.segment().subspan(kAnnouncedAt, 1000), sent));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(SignalWords, ThatCannotBeAreRefusedAndLeaveTheBytesAlone) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(7, 16);
    const Rank to = next(me);
    const GlobalPtr<std::byte> place{to, kAnnouncedAt};
    const auto refused = [&](SignalWord what) { return put_signal(me, place, sent, what).code(); };
    EXPECT_EQ(refused({signal_word(me.rank(), 0), 1}), ErrorCode::invalid_argument)
        << "a word of another rank";
    EXPECT_EQ(refused({GlobalPtr<std::uint64_t>{to, 4}, 1}), ErrorCode::misaligned);
    EXPECT_EQ(refused({GlobalPtr<std::uint64_t>{to, 4092}, 1}), ErrorCode::out_of_range);
    EXPECT_EQ(refused({GlobalPtr<std::uint64_t>{to, 4096}, 1}), ErrorCode::out_of_range);
    EXPECT_EQ(refused({GlobalPtr<std::uint64_t>{to, 0, 9999}, 1}), ErrorCode::out_of_range);
    EXPECT_EQ(refused({signal_word(to, 0), 1, static_cast<SignalOp>(7)}), ErrorCode::invalid_argument);
    EXPECT_EQ(put_signal_nbi(me, place, sent, SignalWord{GlobalPtr<std::uint64_t>{to, 4}, 1}).code(),
              ErrorCode::misaligned);
    EXPECT_EQ(put_signal(me, GlobalPtr<std::byte>{to, 4090}, sent, SignalWord{signal_word(to, 0), 1}).code(),
              ErrorCode::out_of_range);
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, SignalWords, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
