#include "conduits/sim/virtual_time.hpp"

#include <algorithm>

namespace aqueduct::conduits::sim {
namespace {

// Chosen: how often a parked thread looks whether another one has ended or stays away. Real time.
constexpr std::chrono::milliseconds kFirstLook{1};
constexpr std::chrono::milliseconds kLongestLook{50};

/// Says whether a thread still lives, also after its end.
class ThisThread {
 public:
  ThisThread() : lives_(std::make_shared<std::atomic<bool>>(true)) {}
  ~ThisThread() { lives_->store(false, std::memory_order_release); }
  ThisThread(const ThisThread&) = delete;
  ThisThread& operator=(const ThisThread&) = delete;
  std::shared_ptr<const std::atomic<bool>> lives() const noexcept { return lives_; }

 private:
  std::shared_ptr<std::atomic<bool>> lives_;
};

}  // namespace

void VirtualTime::note_thread(Processor& processor) {
  thread_local const ThisThread self;
  const auto id = std::this_thread::get_id();
  if (processor.thread == id && processor.thread_lives == self.lives()) return;
  processor.thread = id;
  processor.thread_lives = self.lives();
}

void VirtualTime::open(Rank rank) {
  Processor& one = processors_[rank];
  one.state = State::computing;
  note_thread(one);
}

void VirtualTime::close(Rank rank) noexcept {
  processors_[rank].state = State::closed;
  if (running_ == rank) running_ = kNoRank;
  if (running_ == kNoRank) choose(false);
}

void VirtualTime::enter(Lock& lock, Rank rank) {
  Processor& me = processors_[rank];
  note_thread(me);
  if (running_ == rank) return;
  const bool mine = running_ != kNoRank && processors_[running_].thread_lives == me.thread_lives;
  me.away = false;
  const Picoseconds from = std::max(me.time.load(std::memory_order_relaxed), now_);
  if (!mine) return park(lock, rank, from, false);
  // This thread has the turn already, by another of its ranks.
  processors_[running_].state = State::computing;
  running_ = rank;
  me.state = State::running;
  me.resumed = true;
  me.time.store(from, std::memory_order_relaxed);
}

void VirtualTime::park(Lock& lock, Rank rank, Picoseconds until, bool by_news) {
  Processor& me = processors_[rank];
  me.state = State::parked;
  me.by_news = by_news;
  me.wakes = by_news && me.has_news ? me.time.load(std::memory_order_relaxed) : until;
  since_ = real_.now();
  if (running_ == rank) running_ = kNoRank;
  if (running_ == kNoRank) choose(false);
  for (auto look = kFirstLook; running_ != rank;) {
    if (me.resumes.wait_for(lock, look) == std::cv_status::no_timeout || running_ == rank) continue;
    look_around();
    look = std::min(look * 2, kLongestLook);
  }
  me.resumed = true;
}

void VirtualTime::news(Rank rank) noexcept {
  Processor& one = processors_[rank];
  one.has_news = true;
  if (one.state == State::parked && one.by_news)
    one.wakes = std::min(one.wakes, std::max(one.time.load(std::memory_order_relaxed), now_));
}

/// Whether time must wait for a rank, which does something that takes no time.
bool VirtualTime::holds_up(const Processor& one) const noexcept {
  if (one.state != State::computing || one.away) return false;
  if (!one.thread_lives->load(std::memory_order_acquire)) return false;
  // Its thread waits here, with another of its ranks.
  return std::none_of(processors_.begin(), processors_.end(), [&](const Processor& other) {
    return other.state == State::parked && other.thread_lives == one.thread_lives;
  });
}

bool VirtualTime::anybody_away() const noexcept {
  return std::any_of(processors_.begin(), processors_.end(), [](const Processor& one) {
    return one.away && one.state == State::computing && one.thread_lives->load(std::memory_order_acquire);
  });
}

/// Gives the turn to the next rank, if nobody holds it up. `patiently`: some real time has passed, so time may go on though
/// a rank is away.
void VirtualTime::choose(bool patiently) noexcept {
  if (std::any_of(processors_.begin(), processors_.end(),
                  [&](const Processor& one) { return holds_up(one); }))
    return;
  const auto wakes_earlier = [](const Processor& a, const Processor& b) {
    const auto when = [](const Processor& one) { return one.state == State::parked ? one.wakes : kNever; };
    return when(a) < when(b);
  };
  for (;;) {
    const auto next = std::min_element(processors_.begin(), processors_.end(), wakes_earlier);
    if (next == processors_.end() || next->state != State::parked) return;
    if (events_.next() <= next->wakes) {
      now_ = std::max(now_, events_.next());
      events_.happen();
      continue;
    }
    if (next->wakes > now_ && !patiently && anybody_away()) return;
    now_ = std::max(now_, next->wakes);
    next->time.store(next->wakes, std::memory_order_relaxed);
    next->state = State::running;
    next->resumed = false;
    running_ = static_cast<Rank>(next - processors_.begin());
    since_ = real_.now();
    next->resumes.notify_one();
    return;
  }
}

/// A parked thread has waited for some real time.
void VirtualTime::look_around() noexcept {
  if (running_ != kNoRank) {
    Processor& one = processors_[running_];
    if (!one.resumed) return;  // the system has not let it run yet
    if (one.thread_lives->load(std::memory_order_acquire)) {
      if (real_.now() - since_ < patience_) return;
      one.away = true;
      ++passed_over_;
    }
    one.state = State::computing;
    running_ = kNoRank;
  } else if (real_.now() - since_ >= patience_) {
    for (Processor& one : processors_) {
      if (!holds_up(one)) continue;
      one.away = true;
      ++passed_over_;
    }
  }
  choose(true);
}

}  // namespace aqueduct::conduits::sim
