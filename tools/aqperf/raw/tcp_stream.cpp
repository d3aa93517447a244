#include "tools/aqperf/raw/tcp_stream.hpp"

#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/raw/silence.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <netinet/tcp.h>

namespace aqueduct::perf {

namespace {

using namespace std::chrono_literals;

// Chosen: TCP retransmits by itself, and backs off for seconds while it does.
constexpr auto kGivesUp = 10s;

/// Calls `once(bytes left)`, a send or recv, until all bytes have been transferred.
template <class Once>
void until_through(std::uint64_t bytes, const Patience& patience, const char* call, const Once& once) {
  while (bytes > 0) {
    Silence silence;
    patience.until([&] {
      const ssize_t moved = once(std::min<std::uint64_t>(bytes, TcpStream::kChunk));
      if (moved > 0) {
        bytes -= static_cast<std::uint64_t>(moved);
        return true;
      }
      const bool nothing_yet = moved < 0 && (errno == EAGAIN || errno == EINTR);
      if (nothing_yet && !(silence.lasts_another(100ms) && silence.length() >= kGivesUp)) return false;
      const char* const why = moved == 0    ? "the other side has closed it"
                              : nothing_yet ? "nothing moved for 10 s"
                                            : std::strerror(errno);
      throw Failure(std::string("--vs raw: ") + call + " of a bare TCP socket: " + why, 1);
    });
  }
}

}  // namespace

TcpStream::TcpStream(BareSocket connected, bool active, Patience patience)
    : socket_(std::move(connected)), active_(active), patience_(patience), buffer_(kChunk) {
  socket_.set(IPPROTO_TCP, TCP_NODELAY, 1);
}

void TcpStream::flood(std::uint64_t bytes) {
  constexpr std::uint64_t kAnswer = 1;
  if (active_) {
    send(bytes);
    receive(kAnswer);
  } else {
    receive(bytes);
    send(kAnswer);
  }
}

void TcpStream::ping_pong(std::size_t there, std::size_t back, std::uint64_t turns) {
  for (; turns > 0; --turns) {
    if (active_) {
      send(there);
      receive(back);
    } else {
      receive(there);
      send(back);
    }
  }
}

void TcpStream::send(std::uint64_t bytes) {
  until_through(bytes, patience_, "send()", [this](std::uint64_t most) {
    return ::send(socket_.get(), buffer_.data(), most, MSG_NOSIGNAL);
  });
}

void TcpStream::receive(std::uint64_t bytes) {
  until_through(bytes, patience_, "recv()",
                [this](std::uint64_t most) { return ::recv(socket_.get(), buffer_.data(), most, 0); });
}

}  // namespace aqueduct::perf
