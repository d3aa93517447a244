#include "tests/conformance/random_program.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

namespace aqueduct::conformance {

namespace {

using Kind = Action::Kind;

/// Plays one rank's part.
class Player {
 public:
  Player(Endpoint& me, const ProgramShape& shape, std::uint64_t seed)
      : me_(me), shape_(shape), seed_(seed), model_(shape) {}

  void prepare() {
    const auto count = [this](const Numbered& args, std::span<std::byte> payload) {
      ++handled_;
      sum_ += args.number;
      const auto same = holds(payload, pattern(args.number, payload.size()));
      if (right_ && !same) right_ = same;
    };
    const auto short_handler =
        on_short_request<Numbered>(me_, [count](auto&, const Numbered& args) { count(args, {}); });
    const auto medium_handler = on_medium_request<Numbered>(
        me_, [count](auto&, const Numbered& args, std::span<std::byte> payload) { count(args, payload); });
    const auto long_handler = on_long_request<Numbered>(
        me_, [count](auto&, const Numbered& args, std::span<std::byte> payload) { count(args, payload); });
    ASSERT_TRUE(short_handler && medium_handler && long_handler);
    short_ = *short_handler;
    medium_ = *medium_handler;
    long_ = *long_handler;
    ASSERT_TRUE(me_.barrier());
  }

  void play(std::uint64_t round) {
    const auto actions = actions_of(shape_, seed_, round);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const Action& action = actions[i];
      if (action.actor != me_.rank()) continue;
      const Status status = start(action);
      ASSERT_TRUE(status) << "round " << round << ", action " << i << ": " << status.text();
    }
    ASSERT_TRUE(me_.wait_implicit());
    ASSERT_TRUE(group_.wait());
    for (Event& event : events_) ASSERT_TRUE(me_.wait(event));
    events_.clear();
    sources_.clear();
    for (const Read& read : reads_) {
      const auto& there = model_.ranks[read.target].data;
      ASSERT_TRUE(holds(read.found, std::span(there).subspan(read.offset, read.found.size())))
          << "round " << round << ", read from rank " << read.target << ", offset " << read.offset;
    }
    reads_.clear();
    for (const Action& action : actions) model_.apply(action);
    check(round);
  }

 private:
  struct Numbered {
    std::uint64_t number;
  };
  struct Read {
    Rank target;
    std::uint64_t offset;
    std::vector<std::byte> found;
  };

  /// Bytes that stay at their address until the end of the round.
  std::span<std::byte> source(const Action& action) {
    return sources_.emplace_back(pattern(action.number, action.bytes));
  }

  /// Waits for an explicit completion at once or at the end of the round, as the form says.
  Status take(Form form, Event event) {
    if (form == Form::blocking) return me_.wait(event);
    events_.push_back(std::move(event));
    return {};
  }

  Status start(const Action& action) {
    const GlobalPtr<std::byte> to{action.target, action.offset};
    const Numbered args{action.number};
    switch (action.kind) {
      case Kind::put: return start_put(action, to);
      case Kind::get: return start_get(action, to);
      case Kind::put_value: {
        std::uint64_t value;
        std::memcpy(&value, source(action).data(), sizeof value);
        return take(action.form, put_value_nb(me_, to.as<std::uint64_t>(), value));
      }
      case Kind::put_signal: {
        const auto slot = static_cast<SignalSlot>(action.number % ProgramShape::kSignals);
        return take(action.form, put_signal_nb(me_, to, source(action), {slot, 1}));
      }
      case Kind::signal:
        return take(action.form,
                    signal_nb(me_, action.target, {static_cast<SignalSlot>(action.offset), action.number}));
      case Kind::atomic: {
        const GlobalPtr<std::uint64_t> counter{action.target, shape_.data_bytes + 8 * action.offset};
        if (action.form == Form::nbi) return atomic_nbi<AtomicOp::add>(me_, counter, action.number);
        if (action.form == Form::group) {
          return atomic_nbi<AtomicOp::add>(me_, counter, action.number, nullptr, {.group = &group_});
        }
        return take(action.form, atomic_nb<AtomicOp::add>(me_, counter, action.number));
      }
      case Kind::short_request: return request(me_, action.target, short_, args);
      case Kind::medium_request:
        return request(me_, action.target, medium_, args, source(action),
                       {.group = action.form == Form::group ? &group_ : nullptr});
      case Kind::long_request: return request(me_, long_, args, source(action), to);
    }
    return ErrorCode::internal;
  }

  Status start_put(const Action& action, GlobalPtr<std::byte> to) {
    const auto from = source(action);
    const PutOptions options{.source = action.at_return ? SourceReuse::at_return : SourceReuse::at_completion,
                             .group = action.form == Form::group ? &group_ : nullptr};
    Status status;
    if (action.form == Form::blocking) {
      status = put(me_, to, from);
    } else if (action.form == Form::nb) {
      status = take(action.form, put_nb(me_, to, from, options));
    } else {
      status = put_nbi(me_, to, from, options);
    }
    if (action.at_return) std::ranges::fill(from, std::byte{0x5a});
    return status;
  }

  Status start_get(const Action& action, GlobalPtr<std::byte> from) {
    auto& found = reads_.emplace_back(Read{action.target, action.offset, {}}).found;
    found.resize(action.bytes);
    if (action.form == Form::blocking) return get(me_, found, from);
    if (action.form == Form::nb) return take(action.form, get_nb(me_, found, from));
    return get_nbi(me_, found, from, {.group = action.form == Form::group ? &group_ : nullptr});
  }

  void check(std::uint64_t round) {
    const auto& mine = model_.ranks[me_.rank()];
    ASSERT_TRUE(progress_until(me_, [&] { return handled_ >= mine.messages; }))
        << "round " << round << ": " << handled_ << " of " << mine.messages << " messages";
    ASSERT_TRUE(me_.barrier());
    ASSERT_TRUE(holds(me_.segment().first(shape_.data_bytes), mine.data)) << "round " << round;
    ASSERT_TRUE(holds(me_.segment().subspan(shape_.data_bytes), std::as_bytes(std::span(mine.counters))))
        << "round " << round << ", the counters";
    for (SignalSlot slot = 0; slot < ProgramShape::kSignals; ++slot) {
      ASSERT_EQ(signal_value(me_, slot), mine.signals[slot]) << "round " << round << ", signal " << slot;
    }
    ASSERT_EQ(handled_, mine.messages) << "round " << round;
    ASSERT_EQ(sum_, mine.sum) << "round " << round;
    ASSERT_TRUE(right_) << "round " << round;
    ASSERT_TRUE(me_.barrier());
  }

  Endpoint& me_;
  const ProgramShape shape_;
  const std::uint64_t seed_;
  ProgramModel model_;
  ShortRequest<Numbered> short_;
  MediumRequest<Numbered> medium_;
  LongRequest<Numbered> long_;
  std::uint64_t handled_ = 0;
  std::uint64_t sum_ = 0;
  testing::AssertionResult right_ = testing::AssertionSuccess();
  std::vector<Event> events_;
  std::deque<std::vector<std::byte>> sources_;
  std::deque<Read> reads_;
  Group group_{me_};  // the last member: its operations use the others'
};

}  // namespace

void play(Endpoint& me, const ProgramShape& shape, std::uint64_t seed, std::uint64_t rounds) {
  Player player(me, shape, seed);
  ASSERT_NO_FATAL_FAILURE(player.prepare());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(player.play(round));
  }
}

}  // namespace aqueduct::conformance
