#pragma once

#include "conduits/loop/loop_meeting.hpp"
#include "conduits/loop/mailbox.hpp"
#include "conduits/loop/registered_memory.hpp"
#include "conduits/loop/turns.hpp"
#include "core/network.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace aqueduct::conduits::loop {

/// The values of the settings loop_….
struct LoopOptions {
  enum class Native { none, rma, all };
  Native native = Native::none;
  bool collectives = false;
  std::uint64_t seed = 0;
  std::size_t max_packet = 1024;
  std::size_t queue = 64;
};

/// The state that all ranks share: a mailbox and the registered segments of each rank, and the turns.
///
/// Threads: any; each endpoint may be used by its own thread.
class LoopNetwork final : public core::Network {
 public:
  /// `log` may be null; else it outlives the network.
  LoopNetwork(Rank ranks, const LoopOptions& options, core::Log* log, core::EndpointClock clock);

  /// Errors: out_of_range; refused (the rank was opened before).
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  Rank ranks() const noexcept { return static_cast<Rank>(by_rank_.size()); }
  const LoopOptions& options() const noexcept { return options_; }
  core::Log* log() const noexcept { return log_; }
  Mailbox& mailbox(Rank rank) noexcept { return by_rank_[rank].mailbox; }
  RegisteredMemory& memory(Rank rank) noexcept { return by_rank_[rank].memory; }
  Meetings& meetings() noexcept { return meetings_; }
  /// Null without a seed: then threads run freely.
  Turns* turns() noexcept { return turns_ ? &*turns_ : nullptr; }

  /// Ends a rank. The others are told when they poll.
  void close(Rank rank) noexcept;
  /// How many ranks have ended.
  Rank closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  struct RankData {
    Mailbox mailbox;
    RegisteredMemory memory;
  };

  LoopOptions options_;
  core::Log* log_;
  std::deque<RankData> by_rank_;
  Meetings meetings_;
  std::optional<Turns> turns_;
  std::atomic<Rank> closed_{0};
};

}  // namespace aqueduct::conduits::loop
