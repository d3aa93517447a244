#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <memory>

namespace aqueduct::core {

/// The packets and signals that a rank sends to itself, until
/// its next poll. Bounded; allocates nothing after the start.
class ToSelf {
 public:
  /// Allocates room for `bytes` bytes. Each packet takes 16 bytes more than its length.
  explicit ToSelf(std::size_t bytes);

  /// Add a packet or a signal. False: there is no room before the next poll.
  bool packet(Bytes header, Bytes payload) noexcept;
  bool signal(Signal signal) noexcept;
  bool has_room_for_signal() const noexcept;
  bool empty() const noexcept { return filling_.used == 0; }
  /// Delivers what was added before this call, and returns the number of calls of the inbox. What handlers add
  /// meanwhile waits for the next call.
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
