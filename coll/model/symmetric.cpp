#include "coll/model/symmetric.hpp"

#include "coll/model/symmetric_actions.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

class Rounds {
 public:
  Rounds(const Shape& shape, const Machine& machine, std::uint32_t counters,
         std::span<const Picoseconds> calls, const std::vector<Action>& actions, NarrowLinks* links)
      : ranks_(shape.ranks),
        link_(machine.levels.front().link),
        calls_(calls),
        actions_(actions),
        links_(links),
        count_(calls.empty() ? 1 : shape.ranks),
        now_(count_),
        sends_free_(count_),
        takes_free_(count_),
        sources_(count_),
        heads_(count_),
        last_head_(count_),
        last_from_(count_, kNoRank),
        states_(counters) {
    if (links != nullptr) links->begin();
    if (!calls.empty()) std::copy(calls.begin(), calls.end(), now_.begin());
  }

  bool run() {
    for (const Action& action : actions_) {
      if (too_much_) return true;
      switch (action.kind) {
        case Action::Kind::wait:
          if (!wait(action)) return false;
          break;
        case Action::Kind::work:
          busy_ += action.length;
          for (Picoseconds& now : now_) {
            now += action.length;
            too_much_ |= now >= kMostTime;
          }
          break;
        case Action::Kind::raise: add(action.counter, 1, now_); break;
        case Action::Kind::post:
          if (!post(action)) return false;
          break;
      }
    }
    return true;
  }

  Replayed result() const {
    Replayed out;
    Picoseconds first = ~Picoseconds{0};
    Picoseconds last = 0;
    out.members.resize(ranks_);
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const Rank at = count_ == 1 ? 0 : rank;
      ReplayedMember& member = out.members[rank];
      member.called = calls_.empty() ? 0 : calls_[rank];
      member.drained = now_[at];
      member.ended = std::max(now_[at], sources_[at]);
      member.busy = busy_;
      first = std::min(first, member.called);
      last = std::max(last, member.ended);
    }
    out.time = last - first;
    for (const Action& action : actions_) {
      if (action.kind != Action::Kind::post) continue;
      out.messages += ranks_;
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(std::uint64_t{ranks_}, action.bytes, &bytes) ||
          __builtin_add_overflow(out.bytes, bytes, &out.bytes))
        out.problem = kTooMuch;
    }
    if (too_much_) out.problem = kTooMuch;
    return out;
  }

 private:
  struct State {
    std::uint32_t value = 0;
    std::vector<Picoseconds> ready;
  };

  void add(Counter counter, std::uint32_t amount, const std::vector<Picoseconds>& times) {
    State& state = states_[counter];
    state.value += amount;
    if (state.ready.empty()) state.ready.resize(count_);
    for (Rank i = 0; i < count_; ++i) state.ready[i] = std::max(state.ready[i], times[i]);
  }

  // All of a member's posts before a wait are done before the same posts of others are looked at after it: so all that is
  // waited for has been posted. If not, one member waits for what others do later, and members are not alike in time.
  bool wait(const Action& action) {
    State& state = states_[action.counter];
    if (state.value < action.until) return false;
    for (Rank i = 0; i < count_; ++i) now_[i] = std::max(now_[i], state.ready[i]);
    return true;
  }

  bool post(const Action& action) {
    const Picoseconds length = link_.bytes_time(action.bytes);
    busy_ += link_.overhead;
    for (Rank i = 0; i < count_; ++i) {
      now_[i] += link_.overhead;
      const Picoseconds entered = std::max(now_[i], sends_free_[i]);
      sends_free_[i] = entered + length + link_.gap;
      too_much_ |= sends_free_[i] >= kMostTime;
      heads_[i] = entered + link_.latency;
    }
    if (action.bytes > 0) {
      for (Rank i = 0; i < count_; ++i)
        sources_[i] = std::max(sources_[i], heads_[i] - link_.latency + length);
    }
    if (action.done != kNoCounter) {
      if (action.bytes == 0) {
        add(action.done, 1, now_);
      } else {
        State& done = states_[action.done];
        ++done.value;
        if (done.ready.empty()) done.ready.resize(count_);
        for (Rank i = 0; i < count_; ++i)
          done.ready[i] = std::max(done.ready[i], heads_[i] - link_.latency + length);
      }
    }
    State& state = states_[action.counter];
    state.value += action.add;
    if (state.ready.empty()) state.ready.resize(count_);
    if (links_ != nullptr) {
      const Picoseconds entered = heads_[0] - link_.latency;
      heads_[0] = links_->last_arrival(entered, action.distance, action.turns, action.bytes, link_);
    }
    if (count_ == 1) return take(state, 0, 0, length);
    if (action.turns) {
      for (Rank to = 0; to < count_; ++to) {
        if (!take(state, to, to ^ action.distance, length)) return false;
      }
      return true;
    }
    Rank from = (ranks_ - action.distance) % ranks_;
    for (Rank to = 0; to < count_; ++to) {
      if (!take(state, to, from, length)) return false;
      if (++from == ranks_) from = 0;
    }
    return true;
  }

  /// Convention 4. False: what was taken before has come later.
  bool take(State& state, Rank to, Rank from, Picoseconds length) noexcept {
    const Picoseconds head = heads_[from];
    const bool waits = link_.gap != 0 || link_.femtoseconds_per_byte != 0;
    if (waits && links_ == nullptr &&
        (head < last_head_[to] ||
         (head == last_head_[to] && last_from_[to] != kNoRank && from < last_from_[to])))
      return false;
    last_head_[to] = head;
    last_from_[to] = from;
    const Picoseconds in_place = std::max(head, takes_free_[to]) + length;
    // What comes late over a shared link keeps no other message from the port.
    takes_free_[to] = (links_ == nullptr ? in_place : takes_free_[to] + length) + link_.gap;
    too_much_ |= takes_free_[to] >= kMostTime;
    state.ready[to] = std::max(state.ready[to], in_place);
    return true;
  }

  Rank ranks_;
  LogGP link_;
  std::span<const Picoseconds> calls_;
  const std::vector<Action>& actions_;
  NarrowLinks* links_;  ///< null: no links are shared
  Rank count_;          ///< members that are followed: one for all, or each
  Picoseconds busy_ = 0;
  bool too_much_ = false;  ///< a time has passed kMostTime
  std::vector<Picoseconds> now_;
  std::vector<Picoseconds> sends_free_;
  std::vector<Picoseconds> takes_free_;
  std::vector<Picoseconds> sources_;
  std::vector<Picoseconds> heads_;
  std::vector<Picoseconds> last_head_;
  std::vector<Rank> last_from_;
  std::vector<State> states_;
};

}  // namespace

std::optional<Replayed> replay_symmetric(const Algorithm& algorithm, const Shape& shape,
                                         const Machine& machine, std::span<const Picoseconds> calls,
                                         NarrowLinks* links) {
  if (shape.ranks < 2 || !machine.is_uniform() || machine.shares_cores() ||
      machine.strided != Strided::whole || Schedule::refusal(algorithm, shape) != nullptr ||
      problem_of(machine) != nullptr || (!calls.empty() && (calls.size() != shape.ranks || links != nullptr)))
    return std::nullopt;
  const std::optional<std::vector<Action>> actions = common_actions(algorithm, shape, machine);
  if (!actions) return std::nullopt;
  Rounds rounds(shape, machine, Schedule::needs(algorithm, shape).counters, calls, *actions, links);
  if (!rounds.run()) return std::nullopt;
  return rounds.result();
}

}  // namespace aqueduct::coll
