#include "bootstrap/stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <poll.h>
#include <sys/socket.h>

namespace aqueduct::bootstrap {

bool is_stream_socket(int descriptor) noexcept {
  int type = 0;
  socklen_t length = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

bool wait_for(int descriptor, short event, StreamClock::time_point deadline) noexcept {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - StreamClock::now()).count();
    pollfd socket{descriptor, event, 0};
    const int limit = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    const int ready = ::poll(&socket, 1, limit);
    if (ready > 0) return true;
    if (ready == 0 && left <= limit) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Sent send_all(int descriptor, std::span<const std::byte> bytes, StreamClock::time_point deadline) noexcept {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(descriptor, POLLOUT, deadline)) return Sent::late;
    } else if (errno != EINTR) {
      return Sent::closed;
    }
  }
  return Sent::all;
}

}  // namespace aqueduct::bootstrap
