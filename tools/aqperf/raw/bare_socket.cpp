#include "tools/aqperf/raw/bare_socket.hpp"

#include "tools/aqperf/failure.hpp"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <unistd.h>

namespace aqueduct::perf {

namespace {

/// Chosen: longer than any connection takes, and short enough for a user who waits.
constexpr int kConnectMs = 10'000;

[[noreturn]] void fail(const char* call, int error) {
  throw Failure(std::string("--vs raw: ") + call + " of a bare socket: " + std::strerror(error), 1);
}

void await(int fd, short event, const char* call) {
  pollfd one{fd, event, 0};
  const int ready = ::poll(&one, 1, kConnectMs);
  if (ready != 1) fail(call, ready == 0 ? ETIMEDOUT : errno);
}

}  // namespace

BareSocket::BareSocket(const Address& at, int type)
    : fd_(::socket(at.raw.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) fail("socket()", errno);
  if (::bind(fd_, at.get(), at.bytes) == 0) return;
  const int error = errno;
  ::close(fd_);
  fail("bind()", error);
}

BareSocket::~BareSocket() {
  if (fd_ >= 0) ::close(fd_);
}

Address BareSocket::address() const {
  Address out;
  out.bytes = sizeof out.raw;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&out.raw), &out.bytes) != 0)
    fail("getsockname()", errno);
  return out;
}

void BareSocket::connect(const Address& to) {
  if (::connect(fd_, to.get(), to.bytes) == 0) return;
  if (errno != EINPROGRESS) fail("connect()", errno);
  await(fd_, POLLOUT, "connect()");
  if (const int error = value(SOL_SOCKET, SO_ERROR); error != 0) fail("connect()", error);
}

void BareSocket::listen() {
  if (::listen(fd_, 1) != 0) fail("listen()", errno);
}

BareSocket BareSocket::accept() {
  await(fd_, POLLIN, "accept()");
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) fail("accept()", errno);
  return BareSocket(fd);
}

bool BareSocket::set(int level, int option, int value) noexcept {
  return ::setsockopt(fd_, level, option, &value, sizeof value) == 0;
}

int BareSocket::value(int level, int option) const noexcept {
  int value = -1;
  socklen_t bytes = sizeof value;
  return ::getsockopt(fd_, level, option, &value, &bytes) == 0 ? value : -1;
}

}  // namespace aqueduct::perf
