#pragma once

#include "conduits/smp/cma.hpp"
#include "conduits/smp/ring.hpp"
#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_barrier.hpp"
#include "conduits/smp/smp_map.hpp"
#include "conduits/smp/smp_network.hpp"
#include "core/arrivals.hpp"
#include "core/aside.hpp"
#include "core/conduit.hpp"
#include "core/progress_thread.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace aqueduct::conduits::smp {

/// Connects processes, or threads, of one host through shared memory.
///
/// Threads: the owner's thread. Once the owner has attached memory that other processes cannot map, also a progress
///          thread, which takes packets out of the rings while the owner is away. From then on a lock admits one of
///          them at a time; before, there is no locking.
class SmpConduit final : public core::Conduit, private Attachments {
 public:
  SmpConduit(SmpNetwork& network, Rank me);
  ~SmpConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

  core::NativeRma* rma() noexcept override { return &cma_; }
  core::CrossMap* cross_map() noexcept override { return &map_; }
  core::NativeCollectives* collectives() noexcept override { return &barriers_; }
  core::Waitable* waitable() noexcept override { return &*sleeper_; }

  void serve_aside(core::Aside aside) noexcept override { aside_ = aside; }
  void check_peers(core::Inbox& inbox) noexcept override;
  std::string state_of(Rank peer) const override;

 private:
  class Entry;
  class ThreadInbox;

  int poll_each(core::Inbox& inbox) noexcept;
  int poll_some(core::Inbox& inbox) noexcept;
  int poll_beside(core::Inbox& inbox) noexcept;
  core::Post send_inside(std::uint32_t to, core::Bytes header, core::Bytes payload) noexcept;
  core::Post send_beside(std::uint32_t to, core::Bytes header, core::Bytes payload) noexcept;

  // The progress thread (smp_progress.cpp).
  void attached(SegmentId id, core::MutableBytes memory) noexcept override;
  void detached(SegmentId id) noexcept override;
  void start_thread() noexcept;
  std::chrono::nanoseconds stand_in(const core::ProgressThread& thread) noexcept;
  void send_answers() noexcept;

  SmpNetwork& network_;
  std::uint32_t local_;  ///< my number on this host
  core::Properties properties_;
  Arena* arena_ = nullptr;
  RankBlock* mine_ = nullptr;
  bool few_ = true;      ///< few ranks: polling each ring is cheaper than a bit per sender
  bool alone_ = true;    ///< few ranks and no progress thread: no lock and no arrival bits
  bool simple_ = false;  ///< the same, and sleepers use membarrier: a send only pushes and looks
  std::memory_order publish_ = std::memory_order_release;
  std::vector<Consumer> in_;  // [local rank]
  struct Out {
    Producer ring;
    RankBlock* block = nullptr;
  };
  std::vector<Out> out_;                     // [local rank]
  const std::uint32_t* local_of_ = nullptr;  // [rank]
  const Rank* rank_of_ = nullptr;            // [local rank]
  bool has_membarrier_;
  std::vector<bool> gone_;  // [local rank] reported as lost
  MappedSegments map_;
  Cma cma_;
  Barriers barriers_;
  std::optional<Sleeper> sleeper_;

  // State of the progress thread, under the lock.
  core::Aside aside_ = nullptr;               // set before the thread starts
  core::AsideAnswers answers_;                // to requests that the thread has served
  core::Arrivals arrivals_;                   // packets that the thread has taken, for the owner's next poll
  std::vector<core::MutableBytes> attached_;  // by segment
  std::chrono::nanoseconds nap_{};
  mutable std::mutex mutex_;
  mutable bool inside_ = false;  // the owner holds the lock
  std::optional<core::ProgressThread> thread_;
};

/// Holds the lock for the owner. Does nothing if there is no progress thread, or if the owner holds the lock already (a
/// handler that sends).
class SmpConduit::Entry {
 public:
  explicit Entry(const SmpConduit& conduit) noexcept
      : conduit_(conduit.thread_ && !conduit.inside_ ? &conduit : nullptr) {
    if (conduit_ == nullptr) return;
    conduit_->mutex_.lock();
    conduit_->inside_ = true;
  }
  ~Entry() {
    if (conduit_ == nullptr) return;
    conduit_->inside_ = false;
    conduit_->mutex_.unlock();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const SmpConduit* conduit_;
};

}  // namespace aqueduct::conduits::smp
