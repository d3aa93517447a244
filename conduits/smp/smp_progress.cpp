#include "conduits/smp/smp_conduit.hpp"

#include <algorithm>
#include <new>
#include <system_error>

// The progress thread. Other processes cannot map memory that a program attaches. They put and get by the system's
// cross-memory calls, but their atomics, and puts and gets of single words, are packets, which the owner's process must
// serve. While the owner computes, this thread serves them.

namespace aqueduct::conduits::smp {
namespace {

// Chosen: packets from one peer in one turn. This bounds how long a returning owner waits for the lock.
constexpr int kMostOfOne = 32;
// Chosen: nothing wakes the thread, so it polls at this interval, which doubles while nothing arrives.
constexpr std::chrono::nanoseconds kSoon{100'000};
constexpr std::chrono::nanoseconds kLate{1'000'000};

}  // namespace

/// The progress thread's inbox: serves a packet, or keeps it for the owner.
class SmpConduit::ThreadInbox final : public core::Inbox {
 public:
  explicit ThreadInbox(SmpConduit& conduit) noexcept : conduit_(conduit) {}

  void packet(Rank from, core::Bytes packet) noexcept override {
    const auto memory = [this](SegmentId id) {
      const auto& attached = conduit_.attached_;
      return id < attached.size() ? attached[id] : core::MutableBytes{};
    };
    const auto send = [this](Rank to, core::Bytes answer) {
      return conduit_
          .send_inside(conduit_.local_of_[to], core::header_of_answer(answer), core::rest_of_answer(answer))
          .kind;
    };
    const bool served = conduit_.answers_.serve(conduit_.aside_, from, packet, memory, send);
    if (served && packet.empty()) return;
    static_cast<void>(conduit_.arrivals_.add(from, packet, {}));  // stand_in has made room
  }
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}

 private:
  SmpConduit& conduit_;
};

void SmpConduit::attached(SegmentId id, core::MutableBytes memory) noexcept try {
  // If all local ranks are in this process, they access the memory directly.
  if (network_.process().mine.size() == network_.local_ranks().size()) return;
  {
    const Entry entry(*this);
    if (id >= attached_.size()) attached_.resize(id + std::size_t{1});
    attached_[id] = memory;
  }
  start_thread();
} catch (const std::bad_alloc&) {
  network_.process().log->warn(
      "smp: there is no memory to know segment {} by: others' atomics on it wait while this rank computes",
      id);
}

void SmpConduit::detached(SegmentId id) noexcept {
  const Entry entry(*this);
  if (id < attached_.size()) attached_[id] = {};
}

void SmpConduit::start_thread() noexcept {
  const std::chrono::nanoseconds patience(network_.process().config->nanoseconds("smp_progress"));
  if (thread_ || patience.count() <= 0 || !sleeper_) return;
  try {
    thread_.emplace("aqueduct-smp", patience, /*descriptor=*/-1,
                    [this](const core::ProgressThread& thread) { return stand_in(thread); });
  } catch (const std::exception& problem) {
    network_.process().log->warn(
        "smp: the system gives no thread for AQUEDUCT_SMP_PROGRESS ({}): others' atomics on attached memory "
        "wait while this rank computes",
        problem.what());
    return;
  }
  sleeper_->tell(&*thread_);
  alone_ = false;
  simple_ = false;
}

/// One turn of the progress thread. Returns the time until the next one.
std::chrono::nanoseconds SmpConduit::stand_in(const core::ProgressThread& thread) noexcept {
  const std::lock_guard lock(mutex_);
  if (!thread.owner_is_awake()) return std::chrono::nanoseconds::max();
  if (!answers_.empty()) send_answers();
  ThreadInbox inbox(*this);
  int found = 0;
  for (std::size_t from = 0; from < in_.size(); ++from) {
    for (int i = 0; i < kMostOfOne && arrivals_.make_room(properties_.max_packet); ++i) {
      const auto keep = [&](core::Bytes packet) { inbox.packet(rank_of_[from], packet); };  // in one piece
      if (in_[from].drain(1, keep) == 0) break;
      ++found;
    }
  }
  nap_ = found != 0 ? kSoon : std::clamp(2 * nap_, kSoon, kLate);
  return nap_;
}

void SmpConduit::send_answers() noexcept {
  answers_.send_again([this](Rank to, core::Bytes answer) {
    return send_inside(local_of_[to], core::header_of_answer(answer), core::rest_of_answer(answer)).kind;
  });
}

}  // namespace aqueduct::conduits::smp
