#include "sim/symmetric.hpp"

#include "coll/algorithms/algorithms.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::sim {

using coll::Counter;
using coll::LogGP;
using coll::Picoseconds;
using coll::Step;

namespace {

constexpr std::array kSymmetric{
    &coll::kBarrierDissemination, &coll::kAllGatherDirect,        &coll::kAllGatherBruck,
    &coll::kAllGatherRing,        &coll::kAllGatherCirculant,     &coll::kAllGatherDoubling,
    &coll::kAllToAllDirect,       &coll::kAllToAllBruck,          &coll::kAllToAllPairwise,
    &coll::kAllReduceDirect,      &coll::kAllReduceCirculant,     &coll::kAllReduceHalving,
    &coll::kAllReduceRing,        &coll::kReduceScatterCirculant, &coll::kReduceScatterDirect,
    &coll::kReduceScatterHalving, &coll::kPermuteSlots,           &coll::kAllGatherVSlots,
    &coll::kAllToAllVSlots,
};

/// What a member does, as seen from itself: waits, time of its processor, posts.
struct Action {
  enum class Kind : std::uint8_t { wait, work, post, raise };
  Kind kind = Kind::work;
  bool turns = false;                  ///< the peer is mine ^ distance; otherwise mine + distance
  bool either = false;                 ///< both are true of member 0
  Counter counter = coll::kNoCounter;  ///< of a wait, a raise, a post
  Counter done = coll::kNoCounter;
  std::uint32_t until = 0;
  std::uint32_t add = 0;
  Rank distance = 0;
  std::uint64_t bytes = 0;
  Picoseconds length = 0;
};

/// Lists the actions of one member. False: it has steps that this does not do.
bool list_actions(const coll::Algorithm& algorithm, const coll::Shape& shape, const coll::Machine& machine,
                  Rank position, std::vector<Action>& out) {
  out.clear();
  const coll::Schedule schedule(algorithm, shape, position);
  if (schedule.lanes() != 1) return false;
  const coll::Schedule::Lengths lengths = schedule.lengths(0);
  const auto add_work = [&](std::uint64_t femtoseconds, const Step& step) {
    const Picoseconds length =
        LogGP{.femtoseconds_per_byte = femtoseconds}.bytes_time(step.bytes * step.runs);
    if (length == 0) return;
    if (out.empty() || out.back().kind != Action::Kind::work) out.push_back({});
    out.back().length += length;
  };
  for (std::uint32_t i = 0; i < lengths.all; ++i) {
    const Step step = schedule.step(0, i, lengths);
    if (step.wait_for != coll::kNoCounter)
      out.push_back({.kind = Action::Kind::wait, .counter = step.wait_for, .until = step.wait_until});
    switch (step.kind) {
      case Step::Kind::nothing: break;
      case Step::Kind::copy: add_work(machine.copy_femtoseconds_per_byte, step); break;
      case Step::Kind::reduce: add_work(machine.reduce_femtoseconds_per_byte, step); break;
      case Step::Kind::put:
      case Step::Kind::signal:
        out.push_back({.kind = Action::Kind::post,
                       .counter = step.raise,
                       .done = step.done,
                       .add = step.add,
                       .distance = (step.peer + shape.ranks - position) % shape.ranks,
                       .bytes = step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs});
        continue;
      default: return false;
    }
    if (step.done != coll::kNoCounter) out.push_back({.kind = Action::Kind::raise, .counter = step.done});
  }
  return true;
}

/// Compares another member's actions with those of member 0, and learns which kind of distance posts have.
bool fits(std::vector<Action>& first, const std::vector<Action>& other, Rank position, Rank ranks) {
  if (first.size() != other.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Action& a = first[i];
    const Action& b = other[i];
    if (a.kind != b.kind || a.counter != b.counter || a.done != b.done || a.until != b.until ||
        a.add != b.add || a.bytes != b.bytes || a.length != b.length)
      return false;
    if (a.kind != Action::Kind::post) continue;
    const Rank peer = (position + b.distance) % ranks;
    const bool shifts = b.distance == a.distance;
    const bool turns = peer == (position ^ a.distance);
    if (a.either) {
      if (!shifts && !turns) return false;
      if (shifts != turns) {
        a.either = false;
        a.turns = turns;
      }
    } else if (a.turns ? !turns : !shifts) {
      return false;
    }
  }
  return true;
}

class Rounds {
 public:
  Rounds(const coll::Shape& shape, const coll::Machine& machine, std::uint32_t counters,
         std::span<const Picoseconds> calls, const std::vector<Action>& actions)
      : ranks_(shape.ranks),
        link_(machine.levels.front().link),
        calls_(calls),
        actions_(actions),
        count_(calls.empty() ? 1 : shape.ranks),
        now_(count_),
        sends_free_(count_),
        takes_free_(count_),
        sources_(count_),
        heads_(count_),
        last_head_(count_),
        last_from_(count_, kNoRank),
        states_(counters) {
    if (!calls.empty()) std::copy(calls.begin(), calls.end(), now_.begin());
  }

  bool run() {
    for (const Action& action : actions_) {
      switch (action.kind) {
        case Action::Kind::wait:
          if (!wait(action)) return false;
          break;
        case Action::Kind::work:
          busy_ += action.length;
          for (Picoseconds& now : now_) now += action.length;
          break;
        case Action::Kind::raise: add(action.counter, 1, now_); break;
        case Action::Kind::post:
          if (!post(action)) return false;
          break;
      }
    }
    return true;
  }

  coll::Replayed result() const {
    coll::Replayed out;
    Picoseconds first = ~Picoseconds{0};
    Picoseconds last = 0;
    out.members.resize(ranks_);
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const Rank at = count_ == 1 ? 0 : rank;
      coll::ReplayedMember& member = out.members[rank];
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
      out.bytes += ranks_ * action.bytes;
    }
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
      heads_[i] = entered + link_.latency;
    }
    if (action.bytes > 0) {
      for (Rank i = 0; i < count_; ++i)
        sources_[i] = std::max(sources_[i], heads_[i] - link_.latency + length);
    }
    if (action.done != coll::kNoCounter) {
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
    if (waits && (head < last_head_[to] ||
                  (head == last_head_[to] && last_from_[to] != kNoRank && from < last_from_[to])))
      return false;
    last_head_[to] = head;
    last_from_[to] = from;
    const Picoseconds in_place = std::max(head, takes_free_[to]) + length;
    takes_free_[to] = in_place + link_.gap;
    state.ready[to] = std::max(state.ready[to], in_place);
    return true;
  }

  Rank ranks_;
  LogGP link_;
  std::span<const Picoseconds> calls_;
  const std::vector<Action>& actions_;
  Rank count_;  ///< members that are followed: one for all, or each
  Picoseconds busy_ = 0;
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

bool is_symmetric(const coll::Algorithm& algorithm) noexcept {
  return std::find(kSymmetric.begin(), kSymmetric.end(), &algorithm) != kSymmetric.end();
}

std::optional<coll::Replayed> replay_symmetric(const coll::Algorithm& algorithm, const coll::Shape& shape,
                                               const coll::Machine& machine,
                                               std::span<const Picoseconds> calls) {
  if (!is_symmetric(algorithm) || shape.ranks < 2 || machine.levels.size() != 1 ||
      machine.strided != coll::Strided::whole || coll::Schedule::refusal(algorithm, shape) != nullptr ||
      coll::problem_of(machine) != nullptr || (!calls.empty() && calls.size() != shape.ranks))
    return std::nullopt;
  std::vector<Action> actions;
  std::vector<Action> others;
  if (!list_actions(algorithm, shape, machine, 0, actions)) return std::nullopt;
  for (Action& action : actions) action.either = true;
  // Members that are unlike in the ways in which members of these algorithms can be.
  const Rank last = shape.ranks - 1;
  const std::array<Rank, 4> samples{1, shape.ranks / 3, shape.ranks / 2, last};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Rank sample = samples[i];
    if (sample == 0 || std::find(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(i), sample) !=
                           samples.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    if (!list_actions(algorithm, shape, machine, sample, others) ||
        !fits(actions, others, sample, shape.ranks))
      return std::nullopt;
  }
  Rounds rounds(shape, machine, coll::Schedule::needs(algorithm, shape).counters, calls, actions);
  if (!rounds.run()) return std::nullopt;
  return rounds.result();
}

}  // namespace aqueduct::sim
