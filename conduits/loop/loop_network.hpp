#pragma once

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

/// The settings loop_…, read.
struct LoopOptions {
  enum class Native { none, rma, all };
  Native native = Native::none;
  std::uint64_t seed = 0;
  std::size_t max_packet = 1024;
  std::size_t queue = 64;
};

/// What the endpoints of one process share: a mailbox for each rank, its registered segments, and the turns.
///
/// Threads: any; each endpoint may be used by a thread of its own.
class LoopNetwork final : public core::Network {
 public:
  /// `log` may be null; else it outlives the network.
  LoopNetwork(Rank ranks, const LoopOptions& options, core::Log* log);

  /// Errors: out_of_range; refused (this rank was opened before).
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override;

  Rank ranks() const noexcept { return static_cast<Rank>(places_.size()); }
  const LoopOptions& options() const noexcept { return options_; }
  core::Log* log() const noexcept { return log_; }
  Mailbox& mailbox(Rank rank) noexcept { return places_[rank].mailbox; }
  RegisteredMemory& memory(Rank rank) noexcept { return places_[rank].memory; }
  /// Null without a seed: threads run as they like.
  Turns* turns() noexcept { return turns_ ? &*turns_ : nullptr; }

  /// Ends a rank: whoever polls later is told.
  void close(Rank rank) noexcept;
  /// How many ranks have ended.
  Rank closed() const noexcept { return closed_.load(std::memory_order_acquire); }

 private:
  struct Place {
    Mailbox mailbox;
    RegisteredMemory memory;
  };

  LoopOptions options_;
  core::Log* log_;
  std::deque<Place> places_;  // by rank
  std::optional<Turns> turns_;
  std::atomic<Rank> closed_{0};
};

}  // namespace aqueduct::conduits::loop
