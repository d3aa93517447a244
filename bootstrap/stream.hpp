#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace aqueduct::bootstrap {

/// What is done with the socket that a launcher leaves to its processes. Nothing here raises a signal: a launcher that
/// is gone is news, not the end of this program.
using StreamClock = std::chrono::steady_clock;

/// Whether the descriptor is a connection at all; errno says more if not.
bool is_stream_socket(int descriptor) noexcept;

/// Waits for POLLIN or POLLOUT, or the socket's end. False: the time is over.
bool wait_for(int descriptor, short event, StreamClock::time_point deadline) noexcept;

enum class Sent { all, late, closed };
Sent send_all(int descriptor, std::span<const std::byte> bytes, StreamClock::time_point deadline) noexcept;

}  // namespace aqueduct::bootstrap
