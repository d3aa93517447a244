#include "conduits/smp/smp_conduit.hpp"

#include <algorithm>
#include <new>
#include <system_error>

// Memory that a program attaches is mapped by its own process only. Puts and gets of others reach it by the system's
// cross-memory calls; their atomics are packets, which the owner's processor serves. While the owner computes, a thread
// does it.

namespace aqueduct::conduits::smp {
namespace {

// Chosen: packets of one peer in a turn; the owner, who comes back, waits no longer.
constexpr int kMostOfOne = 32;
// Chosen: nobody wakes the thread, so it looks again after so long; the longer nothing comes, the later.
constexpr std::chrono::nanoseconds kSoon{100'000};
constexpr std::chrono::nanoseconds kLate{1'000'000};

}  // namespace

/// Takes what comes in the owner's place: does it, or keeps it.
class SmpConduit::Keeper final : public core::Inbox {
 public:
  explicit Keeper(SmpConduit& conduit) noexcept : conduit_(conduit) {}

  void packet(Rank from, core::Bytes packet) noexcept override {
    const auto memory = [this](SegmentId id) {
      const auto& attached = conduit_.attached_;
      return id < attached.size() ? attached[id] : core::MutableBytes{};
    };
    const auto send = [this](Rank to, core::Bytes answer) {
      return conduit_.send_inside(conduit_.local_of_[to], answer, {}).kind;
    };
    const bool served = conduit_.answers_.serve(conduit_.aside_, from, packet, memory, send);
    if (served && packet.empty()) return;
    static_cast<void>(conduit_.arrivals_.add(from, packet, {}));  // there is room: see stand_in
  }
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}

 private:
  SmpConduit& conduit_;
};

void SmpConduit::attached(SegmentId id, core::MutableBytes memory) noexcept try {
  // Ranks of this process reach it as it lies here.
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
}

/// On the progress thread.
std::chrono::nanoseconds SmpConduit::stand_in(const core::ProgressThread& thread) noexcept {
  const std::lock_guard lock(mutex_);
  if (!thread.owner_is_awake()) return std::chrono::nanoseconds::max();
  if (!answers_.empty()) send_answers();
  Keeper keeper(*this);
  int found = 0;
  for (std::size_t from = 0; from < in_.size(); ++from) {
    for (int i = 0; i < kMostOfOne && arrivals_.make_room(properties_.max_packet); ++i) {
      const auto keep = [&](core::Bytes packet) { keeper.packet(rank_of_[from], packet); };
      if (in_[from].drain(1, keep) == 0) break;
      ++found;
    }
  }
  nap_ = found != 0 ? kSoon : std::clamp(2 * nap_, kSoon, kLate);
  return nap_;
}

void SmpConduit::send_answers() noexcept {
  answers_.send_again(
      [this](Rank to, core::Bytes answer) { return send_inside(local_of_[to], answer, {}).kind; });
}

}  // namespace aqueduct::conduits::smp
