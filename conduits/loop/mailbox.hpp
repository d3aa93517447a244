#pragma once

#include "conduits/loop/reordering_queue.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace aqueduct::conduits::loop {

/// The packets and signals that have arrived for one rank and have not been delivered yet.
///
/// Threads: any thread may post; the owner draws. Both lock the same mutex, so what a sender wrote before posting is
///          visible to the owner after drawing.
/// Cost:    `open` allocates the room for all packets; nothing else allocates.
class Mailbox {
 public:
  struct Arrival {
    Rank from = kNoRank;
    core::Bytes packet;            // valid until the next call of `next` or `release`
    std::optional<Signal> signal;  // has a value if the arrival is a signal, not a packet
  };

  /// Begins to accept packets. Errors: refused (it was opened before: a rank opens once).
  Status open(std::size_t packets, std::size_t max_packet, std::uint64_t seed, Rank owner);
  void close() noexcept;
  bool is_closed() const noexcept;

  /// Copies a packet or a signal into the mailbox. Returns done, retry (full), or failed with peer_lost (not open).
  core::Post post(Rank from, core::Bytes header, core::Bytes payload) noexcept;
  core::Post post(Rank from, Signal signal) noexcept;

  /// The next arrival. Signals come first, so that a packet sent after the completion of a signal arrives after it.
  std::optional<Arrival> next() noexcept;
  /// Frees the packet that `next` returned last.
  void release() noexcept;
  /// Whether a packet or signal from this rank is waiting.
  bool holds_from(Rank peer) noexcept;
  std::size_t waiting() const noexcept;

 private:
  struct Packet {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    Rank from = kNoRank;
  };
  struct Signalled {
    Rank from = kNoRank;
    Signal signal;
  };
  enum class State { unopened, open, closed };

  void release_locked() noexcept;

  mutable std::mutex mutex_;
  State state_ = State::unopened;
  std::unique_ptr<std::byte[]> memory_;
  ReorderingQueue<Packet> packets_{1, 0, 0};
  ReorderingQueue<Signalled> signals_{1, 0, 0};
  bool delivering_ = false;  // the receiver is using the front packet
};

}  // namespace aqueduct::conduits::loop
