#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::am {

/// Replies for which a conduit had no room.
///
/// A handler cannot wait, so its reply must always find a place. A peer has at most as
/// many requests in flight to this rank as it has credits, so ranks × credits places
/// are enough. They are reserved as addresses only, and take memory at their first use.
class Outbox {
 public:
  struct Entry {
    Rank to;
    std::uint32_t head_bytes;
    std::uint32_t payload_bytes;
    bool owes;  ///< the requester gets its credit back only when the place is free again
  };

  Outbox(std::size_t places, std::size_t place_bytes);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Copies a packet into a free place and returns the number of the place. Requires: a place is free.
  std::uint32_t keep(Rank to, core::Bytes head, core::Bytes payload, bool owes) noexcept;
  void free(std::uint32_t place) noexcept;

  Entry& operator[](std::uint32_t place) noexcept { return entries_[place]; }
  core::Bytes head(std::uint32_t place) const noexcept;
  core::Bytes payload(std::uint32_t place) const noexcept;

  /// The places whose packets are to be sent, the oldest first.
  std::vector<std::uint32_t>& waiting() noexcept { return waiting_; }
  const std::vector<std::uint32_t>& waiting() const noexcept { return waiting_; }

 private:
  std::size_t places_;
  std::size_t place_bytes_;
  std::byte* memory_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> waiting_;
  std::uint32_t fresh_ = 0;
};

}  // namespace aqueduct::am
