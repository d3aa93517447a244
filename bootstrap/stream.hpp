#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace aqueduct::bootstrap {

/// Operations on the socket that a launcher leaves to its processes. None raises a signal: when the launcher has
/// ended, the caller is told, and the program goes on.
using StreamClock = std::chrono::steady_clock;

/// Whether the descriptor is a stream socket; if not, errno says why.
bool is_stream_socket(int descriptor) noexcept;

/// Waits for POLLIN or POLLOUT, or for the end of the stream. False: the deadline has passed.
bool wait_for(int descriptor, short event, StreamClock::time_point deadline) noexcept;

enum class Sent { all, late, closed };
Sent send_all(int descriptor, std::span<const std::byte> bytes, StreamClock::time_point deadline) noexcept;

}  // namespace aqueduct::bootstrap
