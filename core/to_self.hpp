#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <memory>

namespace aqueduct::core {

/// What a rank sends to itself, until its next poll. Bounded; nothing is allocated after the start.
class ToSelf {
 public:
  /// `bytes` of packets, each with 16 more.
  explicit ToSelf(std::size_t bytes);

  /// False: no room before the next poll.
  bool packet(Bytes header, Bytes payload) noexcept;
  bool signal(Signal signal) noexcept;
  bool has_room_for_signal() const noexcept;
  bool empty() const noexcept { return filling_.used == 0; }
  /// What has come before this call, not what comes meanwhile. Returns how many.
  int deliver(Rank me, Inbox& inbox) noexcept;

 private:
  struct Half {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
  };

  std::byte* room(std::size_t bytes) noexcept;

  std::size_t capacity_;
  Half filling_;
  Half delivering_;
};

}  // namespace aqueduct::core
