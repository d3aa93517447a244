#pragma once

#include "conduits/loop/bag.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace aqueduct::conduits::loop {

/// What has arrived for one rank and not been delivered yet: packets and signals.
///
/// Threads: any may post; the owner draws. Posting and drawing lock one mutex, so whatever a sender wrote
///          before it posted is visible to the owner once it has drawn.
/// Cost:    room for all packets is allocated by `open`; nothing afterwards allocates.
class Mailbox {
 public:
  struct Arrival {
    Rank from = kNoRank;
    core::Bytes packet;            // valid until the next `next` or `release`
    std::optional<Signal> signal;  // set: it is a signal, not a packet
  };

  /// Begins to accept. Errors: refused (it was open before: a rank opens once).
  Status open(std::size_t packets, std::size_t max_packet, std::uint64_t seed, Rank owner);
  void close() noexcept;
  bool is_closed() const noexcept;

  /// Copies a packet in: done, retry (full) or failed (peer_lost: not open).
  core::Post post(Rank from, core::Bytes header, core::Bytes payload) noexcept;
  core::Post post(Rank from, Signal signal) noexcept;

  /// The next arrival; signals go first, so a packet sent after a signal's completion comes after it.
  std::optional<Arrival> next() noexcept;
  /// Frees the packet that `next` gave last.
  void release() noexcept;
  /// Whether something from this rank is waiting.
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
  Bag<Packet> packets_{1, 0, 0};
  Bag<Signalled> signals_{1, 0, 0};
  bool delivering_ = false;  // the front packet is in its receiver's hands
};

}  // namespace aqueduct::conduits::loop
