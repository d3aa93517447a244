#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/order.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// A fence between two operations of each kind. The target polls for the later one and then looks for the earlier one.
class OrderOfPairs : public FabricTest {};

enum class Earlier { large_put, small_put, put_signal, signal, atomic, pieces };
enum class Later { put, put_nb, signal, put_signal, atomic, message, pieces, long_message };
constexpr std::array kEarlier{Earlier::large_put, Earlier::small_put, Earlier::put_signal,
                              Earlier::signal,    Earlier::atomic,    Earlier::pieces};
constexpr std::array kLater{Later::put,    Later::put_nb,  Later::signal, Later::put_signal,
                            Later::atomic, Later::message, Later::pieces, Later::long_message};

constexpr std::uint64_t kBlock = 0;  // offsets in the target's segment
constexpr std::uint64_t kSum = 40'008;
constexpr std::uint64_t kWord = 40'016;
constexpr std::uint64_t kColumn = 40'064;
constexpr std::uint64_t kLong = 48'000;
constexpr SignalSlot kBefore = 2;
constexpr SignalSlot kAfter = 3;
constexpr SignalSlot kOfPut = 4;

std::size_t bytes_of(Endpoint& me, Earlier earlier) {
  if (earlier == Earlier::small_put || kWords) return 8;
  return earlier == Earlier::large_put ? reasonable(me, 30'000) : 1000;
}

/// Both sides of one rank: it sends to the next rank, and looks at what the previous one sends.
class Side {
 public:
  explicit Side(Endpoint& me) : me_(me), to_(next(me)) {
    const auto take = [this](auto&, const Number& number, auto&&...) { take_message(number.round); };
    message_ = *on_short_request<Number>(me, take);
    long_ = *on_long_request<Number>(me, take);
  }

  /// Says what comes next. A barrier follows: nothing of a round arrives before its receiver knows the round.
  void prepare(Earlier earlier, Later later, std::uint64_t round) {
    earlier_ = earlier;
    round_ = round;
    sent_ = pattern(10 * round + me_.rank(), bytes_of(me_, earlier));
    flag_[0] = round;
    signals_ += earlier == Earlier::signal;
    sum_ += earlier == Earlier::atomic;
    after_ += later == Later::signal || later == Later::put_signal;
  }

  /// Begins the earlier operation. Its sources stay as they are until the end of the round.
  void begin(Earlier earlier) {
    const GlobalPtr<std::byte> block{to_, kBlock};
    switch (earlier) {
      case Earlier::large_put:
      case Earlier::small_put: ASSERT_TRUE(put_nbi(me_, block, sent_)); break;
      case Earlier::put_signal: events_.push_back(put_signal_nb(me_, block, sent_, {kOfPut, 1})); break;
      case Earlier::signal: events_.push_back(signal_nb(me_, to_, {kBefore, 1})); break;
      case Earlier::atomic:
        ASSERT_TRUE(atomic_nbi<AtomicOp::add>(me_, GlobalPtr<std::uint64_t>{to_, kSum}, 1));
        break;
      case Earlier::pieces:
        ASSERT_TRUE(put_nbi(me_, column(to_), contiguous(sent_.data(), 8 * kRows)));
        break;
    }
  }

  void begin(Later later) {
    const std::uint64_t round = round_;
    switch (later) {
      case Later::put: ASSERT_TRUE(put_value(me_, GlobalPtr<std::uint64_t>{to_, kFlag}, round)); break;
      case Later::put_nb: events_.push_back(put_nb(me_, GlobalPtr<std::uint64_t>{to_, kFlag}, flag_)); break;
      case Later::signal: events_.push_back(signal_nb(me_, to_, {kAfter, 1})); break;
      case Later::put_signal:
        events_.push_back(put_signal_nb(me_, GlobalPtr<std::uint64_t>{to_, kFlag}, flag_, {kAfter, 1}));
        break;
      case Later::atomic:
        ASSERT_TRUE(atomic_nbi<AtomicOp::store>(me_, GlobalPtr<std::uint64_t>{to_, kWord}, round));
        break;
      case Later::message: ASSERT_TRUE(request(me_, to_, message_, {round})); break;
      case Later::pieces:
        events_.push_back(put_nb(me_, contiguous(GlobalPtr<std::uint64_t>{to_, kFlag}, 1),
                                 pieces(flag_.data(), Strided(4, {{2, 4}}))));
        break;
      case Later::long_message:
        ASSERT_TRUE(request(me_, long_, {round}, long_payload_, GlobalPtr<std::byte>{to_, kLong}));
        break;
    }
  }

  /// Whether the later operation of the previous rank can be seen.
  bool sees(Later later) {
    switch (later) {
      case Later::put:
      case Later::put_nb: return word_at(me_, kFlag) == round_;
      case Later::pieces: return word_at(me_, kFlag) == round_;
      case Later::signal:
      case Later::put_signal: return signal_value(me_, kAfter) == after_;
      case Later::atomic: {
        const auto word = load(me_, GlobalPtr<std::uint64_t>{me_.rank(), kWord});
        return word.ok() && *word == round_;
      }
      case Later::message:
      case Later::long_message: return taken_ == round_;
    }
    return false;
  }

  /// Whether the earlier operation of the previous rank is in place.
  testing::AssertionResult arrived() {
    const std::uint64_t number = 10 * round_ + previous(me_);
    switch (earlier_) {
      case Earlier::signal:
        if (signal_value(me_, kBefore) == signals_) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "the signal is not there";
      case Earlier::atomic: {
        const auto sum = load(me_, GlobalPtr<std::uint64_t>{me_.rank(), kSum});
        if (sum.ok() && *sum == sum_) return testing::AssertionSuccess();
        return testing::AssertionFailure() << "the atomic has not been done";
      }
      case Earlier::pieces: {
        const auto expected = pattern(number, 8 * kRows);
        for (std::uint64_t row = 0; row < kRows; ++row) {
          std::uint64_t word = 0;
          std::memcpy(&word, &expected[8 * row], sizeof word);
          if (word_at(me_, kColumn + 24 * row) != word)
            return testing::AssertionFailure() << "piece " << row << " is not there";
        }
        return testing::AssertionSuccess();
      }
      default: break;
    }
    const auto expected = pattern(number, bytes_of(me_, earlier_));
    if (expected.size() != 8) return holds(me_.segment().subspan(kBlock, expected.size()), expected);
    std::uint64_t word = 0;
    std::memcpy(&word, expected.data(), sizeof word);
    if (word_at(me_, kBlock) == word) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "the word is not there";
  }

  /// The result of `arrived` in the handler of the later message.
  testing::AssertionResult at_message() const { return at_message_; }

  void end_round() {
    for (Event& event : events_) ASSERT_TRUE(me_.wait(event));
    events_.clear();
    ASSERT_TRUE(me_.wait_implicit());
  }

 private:
  static constexpr std::uint64_t kRows = kWords ? 1 : 40;
  static RemotePieces column(Rank to) {
    return pieces(GlobalPtr<std::byte>{to, kColumn}, Strided(8, {{kRows, 24}}));
  }

  // In a handler an atomic of one's own may be refused, so the word is read as it is.
  void take_message(std::uint64_t round) {
    taken_ = round;
    const bool by_word = earlier_ == Earlier::atomic;
    const bool done = by_word && word_at(me_, kSum) == sum_;
    at_message_ = !by_word ? arrived() : done ? testing::AssertionSuccess() : testing::AssertionFailure();
  }

  Endpoint& me_;
  Rank to_;
  ShortRequest<Number> message_;
  LongRequest<Number> long_;
  Earlier earlier_ = Earlier::large_put;
  std::uint64_t round_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t signals_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t after_ = 0;
  std::vector<std::byte> sent_;
  std::array<std::uint64_t, 1> flag_{};
  std::vector<std::byte> long_payload_ = std::vector<std::byte>(kWords ? 8 : 600);
  std::vector<Event> events_;
  testing::AssertionResult at_message_ = testing::AssertionSuccess();
};

// M-20.
TEST_P(OrderOfPairs, NothingBehindAFenceArrivesBeforeWhatIsInFrontOfIt) {
#if defined(__SANITIZE_THREAD__)
  // On mapped memory the order is that of the processor's stores, and the sanitizer does not know fences.
  if (!fabric().process_each()) GTEST_SKIP() << "the thread sanitizer does not know fences";
#endif
  as_each_of(3, 64 * 1024, [](Endpoint& me) {
    Side side(me);
    ASSERT_TRUE(me.barrier());
    std::uint64_t round = 0;
    for (int turn = 0; turn < 4; ++turn) {
      for (const Earlier earlier : kEarlier) {
        for (const Later later : kLater) {
          side.prepare(earlier, later, ++round);
          ASSERT_TRUE(me.barrier());
          ASSERT_NO_FATAL_FAILURE(side.begin(earlier));
          // A rank sends to one peer only: with and without a name the fence means the same.
          ASSERT_TRUE(turn % 2 == 0 ? fence(me, next(me)) : fence(me));
          ASSERT_NO_FATAL_FAILURE(side.begin(later));
          const auto where = [&] {
            return testing::Message() << "round " << round << ", earlier " << static_cast<int>(earlier)
                                      << ", later " << static_cast<int>(later);
          };
          ASSERT_TRUE(progress_until(me, [&] { return side.sees(later); })) << where();
          const bool message = later == Later::message || later == Later::long_message;
          ASSERT_TRUE(message ? side.at_message() : side.arrived()) << where();
          ASSERT_NO_FATAL_FAILURE(side.end_round()) << where();
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, OrderOfPairs, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
