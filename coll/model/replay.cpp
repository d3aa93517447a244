#include "coll/model/replay.hpp"

#include "coll/model/calendar.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace aqueduct::coll {

// How it keeps the order. No message takes less than the least L of the machine, so within a *window* of that length what
// happens at one rank cannot change what happens at another. A window is therefore done rank by rank, each in the
// order of its own times; ranks in any order. Only links are shared: messages that enter the network in a window are routed
// when all ranks have done it, in the order of their times.
//
// A member with one lane that only puts needs no events of its own: an arrival that completes what its lane waits for
// runs the lane ahead of the window, since nothing that comes later can change it. Other members (several lanes, gets, puts
// in pieces, several calls) are *stepped*: each post is an event.

namespace {

constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();
constexpr std::uint32_t kLanes = 4;

/// What is left of a step.
struct Brief {
  std::uint64_t bytes = 0;  ///< of one run
  std::uint32_t runs = 1;
  Rank peer = kNoRank;
  std::uint32_t wait_until = 0;
  Counter wait_for = kNoCounter;
  Counter raise = kNoCounter;
  Counter done = kNoCounter;
  std::uint16_t add = 0;
  Step::Kind kind = Step::Kind::nothing;

  std::uint64_t all_bytes() const noexcept { return kind == Step::Kind::signal ? 0 : bytes * runs; }
};

Brief brief_of(const Step& step) noexcept {
  return {.bytes = step.bytes,
          .runs = static_cast<std::uint32_t>(step.runs),
          .peer = step.peer,
          .wait_until = step.wait_until,
          .wait_for = step.wait_for,
          .raise = step.raise,
          .done = step.done,
          .add = step.add,
          .kind = step.kind};
}

/// Whatever happens at a rank at a time.
struct Event {
  enum class Kind : std::uint8_t {
    // Heads at a port.
    put,      ///< raises `counter`
    part,     ///< a packet that is not the last of its message
    request,  ///< of a get of `bytes` bytes
    answer,   ///< of a get
    piece,    ///< of a put in pieces: `counter` is the sender's number of it
    // What is in place.
    hand_answer,  ///< the answer of a get goes to the port
    known,        ///< a piece has arrived at its target
    over,         ///< a put with bytes has left
    // Processors.
    wake,
    go_on,
  };
  Picoseconds time = 0;
  std::uint64_t bytes = 0;
  Rank rank = 0;
  Rank from = 0;
  Counter counter = kNoCounter;
  std::uint16_t add = 0;
  Kind kind = Kind::put;
  std::uint8_t call = 0;

  /// The order of convention 9.
  int order() const noexcept { return kind <= Kind::piece ? 0 : kind <= Kind::over ? 1 : 2; }
  bool before(const Event& other) const noexcept {
    if (time != other.time) return time < other.time;
    if (order() != other.order()) return order() < other.order();
    return order() == 0 && from < other.from;
  }
};

struct CounterState {
  Picoseconds ready = 0;  ///< when the last of what has been added so far is in place
  std::uint32_t value = 0;
};

struct Lane {
  Schedule::Lengths lengths;
  std::uint32_t next = 0;
  bool loaded = false;
  bool told = false;
  bool ended = false;
  Brief step;
};

/// A member's port and its processor.
struct MemberState {
  Picoseconds sends_free = 0;
  Picoseconds takes_free = 0;
  Picoseconds now = 0;      ///< of the processor: it is busy until then, or waits since then
  Picoseconds sources = 0;  ///< when all puts so far have left
  Picoseconds told = kNever;
};

/// What a stepped member is at.
struct Looking {
  bool looking = false;
  bool moved = false;   ///< this look has executed a step
  bool raised = false;  ///< a step has raised an own counter at once
  bool posting = false;
  std::uint32_t lane = 0;
  std::uint32_t piece = 0;      ///< of a put in pieces: the next
  std::uint32_t call = 0;       ///< whose step it executes
  std::uint32_t computing = 0;  ///< the call that begins after computing
  std::uint32_t unfinished = 0;
  Brief signal;  ///< the one that follows a put in pieces
  bool following = false;
  struct Due {
    Counter done;
    std::uint8_t call;
    std::int32_t pieces;  ///< index of a put in pieces, or -1
  };
  std::vector<Due> due;
  struct Pieces {
    std::uint32_t left;
    Brief step;
    std::uint8_t call;
  };
  std::vector<Pieces> pieces;
  struct OfCall {
    std::uint32_t untold = 0;
    std::uint32_t own = 0;  ///< puts and gets that are not over
    bool begun = false;
    bool ended = false;
  };
  std::vector<OfCall> calls;
};

unsigned window_shift(const Machine& machine) noexcept {
  Picoseconds least = kNever;
  for (const Machine::Level& level : machine.levels) least = std::min(least, level.link.latency);
  return static_cast<unsigned>(std::bit_width(least) - 1);
}

class Replay {
 public:
  Replay(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options)
      : calls_(calls),
        machine_(machine),
        options_(options),
        ranks_(calls.front().shape.ranks),
        only_(machine.levels.size() == 1 ? &machine.levels.front().link : nullptr),
        shift_(window_shift(machine)),
        heads_(shift_),
        entries_(shift_) {}

  Replayed run() {
    out_.problem = refusal();
    if (!out_.problem.empty()) return std::move(out_);
    prepare();
    if (!stepped_) run_as(false);
    if (stepped_) {
      prepare();
      run_as(true);
    }
    finish();
    return std::move(out_);
  }

 private:
  std::string refusal() const {
    if (const char* const problem = problem_of(machine_); problem != nullptr) return problem;
    if (!options_.calls.empty() && options_.calls.size() != ranks_)
      return "there must be a time for each member's call";
    if (calls_.size() > 200) return "at most 200 calls are replayed at once";
    for (const ReplayedCall& call : calls_) {
      if (call.shape.ranks != ranks_) return "all calls are of one team";
      if (const char* const why = Schedule::refusal(*call.algorithm, call.shape); why != nullptr) return why;
      if (call.algorithm->native) return "the conduit carries it out, so there are no messages to replay";
    }
    return {};
  }

  void prepare() {
    schedules_.clear();
    schedules_.reserve(std::size_t{ranks_} * calls_.size());
    first_counter_.clear();
    counters_of_ = 0;
    for (const ReplayedCall& call : calls_) {
      first_counter_.push_back(counters_of_);
      counters_of_ += Schedule::needs(*call.algorithm, call.shape).counters;
      for (Rank rank = 0; rank < ranks_; ++rank) {
        schedules_.emplace_back(*call.algorithm, call.shape, rank);
        stepped_ |= schedules_.back().lanes() > 1;
      }
    }
    stepped_ |= calls_.size() > 1 || options_.watcher != nullptr;
    counters_.assign(std::size_t{ranks_} * counters_of_, {});
    members_.assign(ranks_, {});
    chain_.assign(ranks_, kEnd);
    out_.messages = out_.bytes = 0;
    out_.members.assign(ranks_, {.ended = kNever});
    if (options_.links != nullptr) options_.links->begin();
    lanes_of_ = stepped_ ? kLanes * static_cast<std::uint32_t>(calls_.size()) : 1;
    lanes_.assign(std::size_t{ranks_} * lanes_of_, {});
    for (Rank rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t i = 0; i < lanes_of_; ++i) {
        Lane& lane = lane_of(rank, i);
        const Schedule& schedule = schedule_of(rank, i);
        if (i % kLanes < schedule.lanes()) lane.lengths = schedule.lengths(i % kLanes);
        lane.told = lane.ended = i % kLanes >= schedule.lanes();
      }
      out_.members[rank].called = members_[rank].now = called(rank);
    }
    looking_.clear();
    if (stepped_) looking_.resize(ranks_);
  }

  Lane& lane_of(Rank rank, std::uint32_t lane) noexcept {
    return lanes_[std::size_t{rank} * lanes_of_ + lane];
  }
  const Schedule& schedule_of(Rank rank, std::uint32_t lane) const noexcept {
    return schedules_[std::size_t{lane / kLanes} * ranks_ + rank];
  }
  CounterState& counter(Rank rank, std::uint32_t call, Counter number) noexcept {
    return counters_[std::size_t{rank} * counters_of_ + first_counter_[call] + number];
  }
  Picoseconds called(Rank rank) const noexcept { return options_.calls.empty() ? 0 : options_.calls[rank]; }
  const LogGP& between(Rank a, Rank b) const noexcept {
    return only_ != nullptr ? *only_ : machine_.between(a, b);
  }

  /// Keeps the processor busy from `begin` on; returns the end.
  Picoseconds work(Rank rank, Picoseconds begin, Picoseconds length, Watcher::What what, Rank peer,
                   std::uint64_t bytes) {
    const Picoseconds end =
        options_.detours.period == 0 ? begin + length : options_.detours.end_of(rank, begin, length);
    out_.members[rank].busy += end - begin;
    if (options_.watcher != nullptr && end != begin)
      options_.watcher->busy(rank, what, begin, end, peer, bytes);
    return end;
  }
  Picoseconds local_time(const Brief& step) const noexcept {
    const std::uint64_t each = step.kind == Step::Kind::copy     ? machine_.copy_femtoseconds_per_byte
                               : step.kind == Step::Kind::reduce ? machine_.reduce_femtoseconds_per_byte
                                                                 : 0;
    return each == 0 ? 0 : LogGP{.femtoseconds_per_byte = each}.bytes_time(step.bytes * step.runs);
  }

  /// Convention 2: gives a message to a port. `head`: what arrives, but for its time. Returns when the source is free.
  Picoseconds hand_over(Rank from, Picoseconds at, std::uint64_t bytes, Event head) {
    MemberState& sender = members_[from];
    const LogGP& link = between(from, head.rank);
    const Picoseconds entered = std::max(at, sender.sends_free);
    const Picoseconds left = entered + link.bytes_time(bytes);
    sender.sends_free = left + link.gap;
    ++out_.messages;
    out_.bytes += bytes;
    head.from = from;
    if (options_.links == nullptr) {
      head.time = entered + link.latency;
      heads_.push(head);
      return left;
    }
    head.time = entered;
    if (options_.packet != 0 && bytes > 4 * options_.packet && head.kind != Event::Kind::request) {
      Event part = head;
      part.kind = Event::Kind::part;
      part.bytes = options_.packet;
      std::uint64_t sent = 0;
      for (; bytes - sent > options_.packet; sent += options_.packet) {
        part.time = entered + link.bytes_time(sent);
        entries_.push(part);
      }
      head.time = entered + link.bytes_time(sent);
      head.bytes = bytes - sent;
    }
    entries_.push(head);
    return left;
  }

  /// Convention 4. Returns when it is in place.
  Picoseconds take(const Event& head) {
    MemberState& member = members_[head.rank];
    const LogGP& link = between(head.from, head.rank);
    const Picoseconds length = head.kind == Event::Kind::request ? 0 : link.bytes_time(head.bytes);
    const Picoseconds in_place = std::max(head.time, member.takes_free) + length;
    member.takes_free = in_place + (head.kind == Event::Kind::part ? 0 : link.gap);
    if (options_.watcher != nullptr && head.kind != Event::Kind::part) {
      options_.watcher->message(head.from, head.rank, head.kind == Event::Kind::request ? 0 : head.bytes,
                                head.time - std::min(head.time, link.latency), in_place);
    }
    return in_place;
  }

  static void add(CounterState& state, std::uint32_t amount, Picoseconds at) noexcept {
    state.value += amount;
    state.ready = std::max(state.ready, at);
  }

  bool load(Rank rank, std::uint32_t index, Lane& lane) {
    if (lane.loaded) return true;
    if (lane.next == lane.lengths.all) return false;
    lane.step = brief_of(schedule_of(rank, index).step(index % kLanes, lane.next, lane.lengths));
    lane.loaded = true;
    return true;
  }

  void fail(std::string text) {
    if (out_.problem.empty()) out_.problem = std::move(text);
  }
  bool over_limit() {
    if (options_.most_messages == 0 || out_.messages <= options_.most_messages) return false;
    fail("it sends more than " + std::to_string(options_.most_messages) + " messages");
    return true;
  }

  // The windows.

  void run_as(bool stepped) {
    for (Rank rank = 0; rank < ranks_ && !(stepped_ && !stepped); ++rank) {
      if (stepped)
        begin_calls(rank);
      else
        run_ahead(rank);
    }
    while (out_.problem.empty() && stepped_ == stepped) {
      const std::uint64_t window = std::min(heads_.first(), entries_.first());
      if (window == Calendar<Event>::kNone) return;
      if (heads_.first() == window) do_heads(stepped);
      if (entries_.first() == window) do_entries();
      if (over_limit()) return;
    }
    // It is begun once more, stepped.
    heads_ = Calendar<Event>(shift_);
    entries_ = Calendar<Event>(shift_);
  }

  void do_entries() {
    std::vector<Event> entries = entries_.take();
    std::stable_sort(entries.begin(), entries.end(), [](const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : a.from < b.from;
    });
    for (Event& entry : entries) {
      const std::uint64_t bytes = entry.kind == Event::Kind::request ? 0 : entry.bytes;
      entry.time =
          options_.links->arrival(entry.time, entry.from, entry.rank, bytes, between(entry.from, entry.rank));
      heads_.push(entry);
    }
    entries_.recycle(std::move(entries));
  }

  /// `stepped`: as this run is. A rank may find meanwhile that the replay must begin once more.
  void do_heads(bool stepped) {
    window_ = heads_.first();
    std::vector<Event> events = heads_.take();
    const auto count = static_cast<std::uint32_t>(events.size());
    if (next_.size() < count) next_.resize(count);
    // Events of one rank in chains, the last first.
    touched_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t& chain = chain_[events[i].rank];
      if (chain == kEnd) touched_.push_back(events[i].rank);
      next_[i] = std::exchange(chain, i);
    }
    for (const Rank rank : touched_) {
      const std::uint32_t last = std::exchange(chain_[rank], kEnd);
      if (stepped) {
        local_.clear();
        for (std::uint32_t i = last; i != kEnd; i = next_[i]) local_.push_back({events[i], i});
        std::reverse(local_.begin(), local_.end());
        do_stepped();
      } else if (next_[last] == kEnd) {
        arrive(events[last]);
      } else {
        batch_.clear();
        for (std::uint32_t i = last; i != kEnd; i = next_[i]) batch_.push_back(events[i]);
        std::reverse(batch_.begin(), batch_.end());
        const auto earlier = [](const Event& a, const Event& b) { return a.before(b); };
        if (!std::is_sorted(batch_.begin(), batch_.end(), earlier))
          std::stable_sort(batch_.begin(), batch_.end(), earlier);
        for (const Event& event : batch_) arrive(event);
      }
    }
    heads_.recycle(std::move(events));
  }

  // Members of one lane that only put.

  void arrive(const Event& head) {
    const Picoseconds in_place = take(head);
    if (head.kind == Event::Kind::part) return;
    add(counter(head.rank, 0, head.counter), head.add, in_place);
    Lane& lane = lane_of(head.rank, 0);
    if (lane.loaded && lane.step.wait_for == head.counter) run_ahead(head.rank);
  }

  /// Runs the lane until it waits for what has not arrived yet.
  void run_ahead(Rank rank) {
    MemberState& member = members_[rank];
    Lane& lane = lane_of(rank, 0);
    while (load(rank, 0, lane)) {
      const Brief& step = lane.step;
      if (step.wait_for != kNoCounter) {
        const CounterState& waited = counter(rank, 0, step.wait_for);
        if (waited.value < step.wait_until) return;
        if (waited.ready > member.now) {
          end_look(rank, member, waited.ready);
          member.now = waited.ready;
        }
      }
      switch (step.kind) {
        case Step::Kind::put:
        case Step::Kind::signal: {
          if (step.runs > 1 && machine_.strided == Strided::pieces && step.bytes > 0) {
            stepped_ = true;
            return;
          }
          post_ahead(rank, member, step);
          break;
        }
        case Step::Kind::get: stepped_ = true; return;
        case Step::Kind::native: fail("a step leaves the operation to the conduit"); return;
        case Step::Kind::tell:
          if (member.told == kNever) member.told = member.now;
          break;
        case Step::Kind::copy:
        case Step::Kind::reduce:
          if (const Picoseconds length = local_time(step); length != 0) {
            member.now = work(rank, member.now, length,
                              step.kind == Step::Kind::copy ? Watcher::What::copy : Watcher::What::reduce,
                              kNoRank, step.bytes * step.runs);
          }
          [[fallthrough]];
        case Step::Kind::nothing:
          if (step.done != kNoCounter) add(counter(rank, 0, step.done), 1, member.now);
          break;
      }
      lane.loaded = false;
      ++lane.next;
    }
    if (lane.ended) return;
    lane.ended = true;
    out_.members[rank].drained = member.now;
    member.told = std::min(member.told, member.now);
    end_look(rank, member, kNever);
  }

  /// Convention 10: a look has ended; the next one begins at `next`, or earlier when the last put has left.
  void end_look(Rank rank, const MemberState& member, Picoseconds next) {
    if (member.told == kNever || out_.members[rank].ended != kNever) return;
    if (member.sources < next || member.sources <= member.now)
      out_.members[rank].ended = std::max(member.now, member.sources);
  }

  void post_ahead(Rank rank, MemberState& member, const Brief& step) {
    const std::uint64_t bytes = step.all_bytes();
    member.now =
        work(rank, member.now, between(rank, step.peer).overhead, Watcher::What::post, step.peer, bytes);
    const Picoseconds left = hand_over(rank, member.now, bytes,
                                       {.bytes = bytes,
                                        .rank = step.peer,
                                        .counter = step.raise,
                                        .add = step.add,
                                        .kind = Event::Kind::put});
    if (bytes > 0) member.sources = std::max(member.sources, left);
    if (step.done != kNoCounter) add(counter(rank, 0, step.done), 1, bytes > 0 ? left : member.now);
  }

  // Stepped members.

  struct Local {
    Event event;
    std::uint64_t number;
  };
  static bool later(const Local& a, const Local& b) noexcept {
    if (a.event.before(b.event)) return false;
    if (b.event.before(a.event)) return true;
    return a.number > b.number;
  }

  /// Something that happens later at the same rank.
  void push_local(const Event& event) {
    if (in_window_ && (event.time >> shift_) == window_) {
      local_.push_back({event, numbers_++});
      std::push_heap(local_.begin(), local_.end(), later);
    } else {
      heads_.push(event);
    }
  }

  void do_stepped() {
    std::make_heap(local_.begin(), local_.end(), later);
    numbers_ = std::uint64_t{1} << 32;
    in_window_ = true;
    while (!local_.empty()) {
      std::pop_heap(local_.begin(), local_.end(), later);
      const Event event = local_.back().event;
      local_.pop_back();
      happen(event);
    }
    in_window_ = false;
  }

  void begin_calls(Rank rank) {
    Looking& looking = looking_[rank];
    looking.calls.resize(calls_.size());
    for (std::uint32_t call = 0; call < calls_.size(); ++call) {
      looking.calls[call].untold = schedules_[std::size_t{call} * ranks_ + rank].lanes();
      looking.calls[call].begun = call == 0 || options_.in_flight;
    }
    looking.unfinished = static_cast<std::uint32_t>(calls_.size());
    push_local({.time = called(rank), .rank = rank, .kind = Event::Kind::wake});
  }

  void happen(const Event& event) {
    const Rank rank = event.rank;
    switch (event.kind) {
      case Event::Kind::part: take(event); return;
      case Event::Kind::put: {
        const Picoseconds in_place = take(event);
        CounterState& state = counter(rank, event.call, event.counter);
        add(state, event.add, in_place);
        for (std::uint32_t i = event.call * kLanes; i < (event.call + 1u) * kLanes; ++i) {
          const Lane& lane = lane_of(rank, i);
          if (lane.loaded && lane.step.wait_for == event.counter && state.value >= lane.step.wait_until)
            push_local({.time = state.ready, .rank = rank, .kind = Event::Kind::wake});
        }
        return;
      }
      case Event::Kind::request: {
        Event answer = event;
        answer.time = take(event);
        answer.kind = Event::Kind::hand_answer;
        push_local(answer);
        return;
      }
      case Event::Kind::hand_answer:
        hand_over(rank, event.time, event.bytes,
                  {.bytes = event.bytes,
                   .rank = event.from,
                   .counter = event.counter,
                   .add = event.add,
                   .kind = Event::Kind::answer,
                   .call = event.call});
        return;
      case Event::Kind::answer: {
        const Picoseconds in_place = take(event);
        if (event.add != kGetInPieces) {
          push_local({.time = in_place,
                      .rank = rank,
                      .counter = event.counter,
                      .kind = Event::Kind::over,
                      .call = event.call});
        } else {
          push_local({.time = in_place,
                      .rank = rank,
                      .counter = event.counter,
                      .kind = Event::Kind::known,
                      .call = event.call});
        }
        return;
      }
      case Event::Kind::piece: {
        const Picoseconds known = take(event) + between(event.from, rank).latency;
        heads_.push({.time = known,
                     .rank = event.from,
                     .counter = event.counter,
                     .kind = Event::Kind::known,
                     .call = event.call});
        return;
      }
      case Event::Kind::known: {
        Looking& looking = looking_[rank];
        Looking::Pieces& pieces = looking.pieces[event.counter];
        if (--pieces.left == 0) {
          looking.due.push_back({pieces.step.done, pieces.call, event.counter});
          wake(rank, event.time);
        }
        return;
      }
      case Event::Kind::over:
        looking_[rank].due.push_back({event.counter, event.call, -1});
        wake(rank, event.time);
        return;
      case Event::Kind::wake: wake(rank, event.time); return;
      case Event::Kind::go_on: go_on(rank, event.time); return;
    }
  }

  /// Begins a look if the processor is idle.
  void wake(Rank rank, Picoseconds now) {
    if (looking_[rank].looking || looking_[rank].posting) return;
    push_local({.time = now, .rank = rank, .kind = Event::Kind::go_on});
    looking_[rank].looking = true;
    looking_[rank].lane = kBeginLook;
  }

  /// A post, a copy or a reduction is over, or a look begins.
  void go_on(Rank rank, Picoseconds now) {
    Looking& looking = looking_[rank];
    members_[rank].now = now;
    if (std::exchange(looking.posting, false)) {
      if (looking.computing != 0) {
        looking.calls[std::exchange(looking.computing, 0)].begun = true;
        looking.lane = kBeginLook;
      } else if (!end_post(rank, looking, now)) {
        return;
      }
    }
    while (true) {
      if (looking.lane == kBeginLook && !begin_look(rank, looking, now)) return;
      if (!look(rank, looking, now)) return;
      if (std::exchange(looking.raised, false)) {
        looking.lane = 0;
        continue;
      }
      looking.lane = kBeginLook;
      if (!end_calls(rank, looking, now)) return;
      if (!looking.moved && looking.due.empty()) break;
    }
    looking.looking = false;
  }

  /// Learns of completions. False: the processor is busy, with the signal after a put in pieces.
  bool begin_look(Rank rank, Looking& looking, Picoseconds now) {
    looking.moved = false;
    while (!looking.due.empty()) {
      const Looking::Due due = looking.due.front();
      looking.due.erase(looking.due.begin());
      --looking.calls[due.call].own;
      if (due.done != kNoCounter) add(counter(rank, due.call, due.done), 1, now);
      if (due.pieces < 0) continue;
      const Brief& step = looking.pieces[static_cast<std::size_t>(due.pieces)].step;
      if (step.kind == Step::Kind::get) continue;
      looking.signal = step;
      looking.signal.kind = Step::Kind::signal;
      looking.signal.done = kNoCounter;
      looking.following = true;
      looking.call = due.call;
      if (!begin_post(rank, looking, looking.signal, now)) return false;
      if (!end_post(rank, looking, now)) return false;
    }
    looking.lane = 0;
    return true;
  }

  /// Executes steps. False: the processor is busy.
  bool look(Rank rank, Looking& looking, Picoseconds now) {
    for (; looking.lane < lanes_of_; ++looking.lane) {
      const std::uint32_t call = looking.lane / kLanes;
      if (!looking.calls[call].begun) continue;
      Lane& lane = lane_of(rank, looking.lane);
      while (!lane.ended) {
        if (!load(rank, looking.lane, lane)) {
          lane.ended = true;
          out_.members[rank].drained = now;
          tell(lane, looking.calls[call]);
          break;
        }
        const Brief& step = lane.step;
        if (step.wait_for != kNoCounter) {
          const CounterState& waited = counter(rank, call, step.wait_for);
          if (waited.value < step.wait_until) break;
          if (waited.ready > now) {
            push_local({.time = waited.ready, .rank = rank, .kind = Event::Kind::wake});
            break;
          }
        }
        looking.moved = true;
        looking.call = call;
        if (!execute(rank, looking, lane, now)) return false;
        if (!out_.problem.empty()) return false;
      }
    }
    return true;
  }

  static void tell(Lane& lane, Looking::OfCall& call) noexcept {
    if (!std::exchange(lane.told, true)) --call.untold;
  }

  bool execute(Rank rank, Looking& looking, Lane& lane, Picoseconds now) {
    const Brief& step = lane.step;
    switch (step.kind) {
      case Step::Kind::put:
      case Step::Kind::get:
      case Step::Kind::signal:
        looking.piece = 0;
        return begin_post(rank, looking, step, now) && end_post(rank, looking, now);
      case Step::Kind::native: fail("a step leaves the operation to the conduit"); return false;
      case Step::Kind::tell: tell(lane, looking.calls[looking.call]); break;
      case Step::Kind::copy:
      case Step::Kind::reduce:
        if (const Picoseconds length = local_time(step); length != 0) {
          const Picoseconds end = work(
              rank, now, length, step.kind == Step::Kind::copy ? Watcher::What::copy : Watcher::What::reduce,
              kNoRank, step.bytes * step.runs);
          if (end != now) {
            looking.posting = true;
            push_local({.time = end, .rank = rank, .kind = Event::Kind::go_on});
            return false;
          }
        }
        break;
      case Step::Kind::nothing: break;
    }
    over_at_once(rank, looking, lane, now);
    return true;
  }

  void over_at_once(Rank rank, Looking& looking, Lane& lane, Picoseconds now) {
    if (lane.step.done != kNoCounter) {
      add(counter(rank, looking.call, lane.step.done), 1, now);
      looking.raised = true;
    }
    lane.loaded = false;
    ++lane.next;
  }

  /// True: it takes no time.
  bool begin_post(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
    const Picoseconds end = work(rank, now, between(rank, step.peer).overhead, Watcher::What::post, step.peer,
                                 in_pieces(step) ? step.bytes : step.all_bytes());
    if (end == now) return true;
    looking.posting = true;
    push_local({.time = end, .rank = rank, .kind = Event::Kind::go_on});
    return false;
  }
  bool in_pieces(const Brief& step) const noexcept {
    return machine_.strided == Strided::pieces && step.runs > 1 && step.bytes > 0 &&
           (step.kind == Step::Kind::put || step.kind == Step::Kind::get);
  }

  /// Hands over what was posted. False: the processor is busy with the next piece.
  bool end_post(Rank rank, Looking& looking, Picoseconds now) {
    const auto call = static_cast<std::uint8_t>(looking.call);
    if (std::exchange(looking.following, false)) {
      const Brief& step = looking.signal;
      hand_over(rank, now, 0,
                {.rank = step.peer,
                 .counter = step.raise,
                 .add = step.add,
                 .kind = Event::Kind::put,
                 .call = call});
      return true;
    }
    Lane& lane = lane_of(rank, looking.lane);
    const Brief& step = lane.step;
    if (step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce) {
      over_at_once(rank, looking, lane, now);
      return true;
    }
    if (in_pieces(step)) {
      do {
        if (looking.piece == 0) {
          looking.pieces.push_back({step.runs, step, call});
          ++looking.calls[call].own;
        }
        const auto number = static_cast<Counter>(looking.pieces.size() - 1);
        if (step.kind == Step::Kind::put) {
          hand_over(rank, now, step.bytes,
                    {.bytes = step.bytes,
                     .rank = step.peer,
                     .counter = number,
                     .kind = Event::Kind::piece,
                     .call = call});
        } else {
          hand_over(rank, now, 0,
                    {.bytes = step.bytes,
                     .rank = step.peer,
                     .counter = number,
                     .add = kGetInPieces,
                     .kind = Event::Kind::request,
                     .call = call});
        }
        if (++looking.piece == step.runs) {
          lane.loaded = false;
          ++lane.next;
          return true;
        }
      } while (begin_post(rank, looking, step, now));
      return false;
    }
    if (step.kind == Step::Kind::get) {
      ++looking.calls[call].own;
      hand_over(rank, now, 0,
                {.bytes = step.all_bytes(),
                 .rank = step.peer,
                 .counter = step.done,
                 .kind = Event::Kind::request,
                 .call = call});
    } else {
      const std::uint64_t bytes = step.all_bytes();
      const Picoseconds left = hand_over(rank, now, bytes,
                                         {.bytes = bytes,
                                          .rank = step.peer,
                                          .counter = step.raise,
                                          .add = step.add,
                                          .kind = Event::Kind::put,
                                          .call = call});
      if (bytes == 0) {
        over_at_once(rank, looking, lane, now);
        return true;
      }
      ++looking.calls[call].own;
      push_local({.time = left, .rank = rank, .counter = step.done, .kind = Event::Kind::over, .call = call});
    }
    lane.loaded = false;
    ++lane.next;
    return true;
  }

  /// Looks which calls have ended, and begins the next. False: the processor computes first.
  bool end_calls(Rank rank, Looking& looking, Picoseconds now) {
    for (std::uint32_t i = 0; i < calls_.size(); ++i) {
      Looking::OfCall& call = looking.calls[i];
      if (!call.begun || call.ended || call.untold != 0 || call.own != 0) continue;
      call.ended = true;
      if (--looking.unfinished == 0) out_.members[rank].ended = now;
      if (options_.in_flight || i + 1 == calls_.size()) continue;
      if (options_.compute == 0) {
        looking.calls[i + 1].begun = true;
        looking.moved = true;
        continue;
      }
      looking.computing = i + 1;
      looking.posting = true;
      const Picoseconds end = work(rank, now, options_.compute, Watcher::What::compute, kNoRank, 0);
      push_local({.time = end, .rank = rank, .kind = Event::Kind::go_on});
      return false;
    }
    return true;
  }

  void finish() {
    if (!out_.problem.empty()) return;
    Picoseconds first = kNever;
    Picoseconds last = 0;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t i = 0; i < lanes_of_; ++i) {
        const Lane& lane = lane_of(rank, i);
        if (lane.ended) continue;
        return fail("member " + std::to_string(rank) + ", lane " + std::to_string(i % kLanes) + ", step " +
                    std::to_string(lane.next) + ": it waits for ever");
      }
      first = std::min(first, out_.members[rank].called);
      last = std::max(last, out_.members[rank].ended);
    }
    out_.time = last - std::min(first, last);
  }

  static constexpr std::uint32_t kEnd = 0xffffffff;
  static constexpr std::uint32_t kBeginLook = 0xffffffff;
  static constexpr std::uint16_t kGetInPieces = 0xffff;

  std::span<const ReplayedCall> calls_;
  const Machine& machine_;
  const ReplayOptions& options_;
  Rank ranks_;
  const LogGP* only_;  ///< of a machine with one level
  unsigned shift_;     ///< of windows
  bool stepped_ = false;
  bool in_window_ = false;
  std::uint32_t lanes_of_ = 1;                ///< of each member, of all calls
  std::uint32_t counters_of_ = 0;             ///< likewise
  std::vector<std::uint32_t> first_counter_;  ///< of each call
  std::vector<Schedule> schedules_;           // [call][rank]
  std::vector<Lane> lanes_;                   // [rank][call][lane]
  std::vector<CounterState> counters_;        // [rank][call][counter]
  std::vector<MemberState> members_;
  std::vector<Looking> looking_;
  Calendar<Event> heads_;
  Calendar<Event> entries_;  ///< with links: messages that enter the network
  std::uint64_t window_ = 0;
  std::vector<std::uint32_t> chain_;
  std::vector<std::uint32_t> next_;
  std::vector<Rank> touched_;
  std::vector<Event> batch_;
  std::vector<Local> local_;
  std::uint64_t numbers_ = 0;
  Replayed out_;
};

}  // namespace

Picoseconds Detours::end_of(Rank rank, Picoseconds begin, Picoseconds work) const noexcept {
  if (period == 0 || length == 0 || work == 0) return begin + work;
  // splitmix64, so that ranks are not in step.
  std::uint64_t chance = seed + (std::uint64_t{rank} + 1) * 0x9e3779b97f4a7c15U;
  chance = (chance ^ (chance >> 30)) * 0xbf58476d1ce4e5b9U;
  chance = (chance ^ (chance >> 27)) * 0x94d049bb133111ebU;
  const Picoseconds first = (chance ^ (chance >> 31)) % period;
  Picoseconds into = (begin + period - first) % period;  // since the last stop began
  Picoseconds at = begin;
  if (into < length) {
    at += length - into;
    into = length;
  }
  if (work <= period - into) return at + work;
  at += period - into;
  const Picoseconds left = work - (period - into);
  const Picoseconds whole = (left - 1) / (period - length);
  return at + whole * period + length + (left - whole * (period - length));
}

const char* problem_of(const Machine& machine) noexcept {
  if (machine.levels.empty()) return "a machine has at least one level";
  for (const Machine::Level& level : machine.levels) {
    if (level.group == 0) return "a level of a machine has groups of no ranks";
    if (level.link.latency == 0) return "the latency of a machine is at least a picosecond";
  }
  return nullptr;
}

static Replayed refused(const char* problem) {
  Replayed out;
  out.problem = problem;
  return out;
}

Replayed replay(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options) {
  if (calls.empty()) return refused("there is no call to replay");
  if (const char* const problem = problem_of(machine); problem != nullptr) return refused(problem);
  if (options.detours.period != 0 && options.detours.length >= options.detours.period)
    return refused("stops must be shorter than their period");
  return Replay(calls, machine, options).run();
}

Replayed replay(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
                const ReplayOptions& options) {
  const ReplayedCall call{&algorithm, shape};
  return replay({&call, 1}, machine, options);
}

std::uint64_t replay_memory(std::span<const ReplayedCall> calls) {
  std::uint64_t each = sizeof(MemberState) + sizeof(ReplayedMember) + 2 * sizeof(std::uint32_t);
  bool stepped = calls.size() > 1;
  for (const ReplayedCall& call : calls) {
    stepped = stepped || call.algorithm->lanes(call.shape, 0) > 1;
    each += sizeof(Schedule) + sizeof(CounterState) * Schedule::needs(*call.algorithm, call.shape).counters;
  }
  each += stepped ? calls.size() * (kLanes * sizeof(Lane) + sizeof(Looking::OfCall)) + sizeof(Looking)
                  : sizeof(Lane);
  // An event of each member, on its way and among those that are done.
  each += 4 * sizeof(Event);
  return each * calls.front().shape.ranks;
}

}  // namespace aqueduct::coll
