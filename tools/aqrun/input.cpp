#include "tools/aqrun/input.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace aqrun {

Input::Input(bool to_first, bool relayed)
    : nothing_(::open("/dev/null", O_RDONLY | O_CLOEXEC)), first_(nothing_) {
  if (!to_first) return;
  first_ = STDIN_FILENO;
  int ends[2];
  if ((!relayed && ::isatty(STDIN_FILENO) == 0) || ::pipe2(ends, O_CLOEXEC) != 0) return;
  first_ = ends[0];
  pipe_ = ends[1];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  // Without this, reading the terminal in the background would stop the whole job; with it, the read fails.
  ::signal(SIGTTIN, SIG_IGN);
}

Input::~Input() {
  stop();
  ::close(nothing_);
}

void Input::started() noexcept {
  if (pipe_ >= 0) ::close(first_);
}

int Input::hand_over() noexcept { return pipe_ >= 0 ? std::exchange(first_, nothing_) : -1; }

void Input::stop() noexcept {
  if (pipe_ >= 0) ::close(pipe_);
  pipe_ = -1;
}

void Input::wait_for(std::vector<pollfd>& events) const {
  if (pipe_ < 0) return;
  if (pending_.empty()) {
    events.push_back({STDIN_FILENO, POLLIN, 0});
  } else {
    events.push_back({pipe_, POLLOUT, 0});
  }
}

void Input::serve() {
  if (pipe_ < 0) return;
  if (pollfd readable{STDIN_FILENO, POLLIN, 0}; pending_.empty() && ::poll(&readable, 1, 0) > 0) {
    std::array<char, 4096> piece;
    const auto got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return stop();  // end of input, or the terminal is no longer ours
    pending_.assign(piece.data(), static_cast<std::size_t>(got));
  }
  if (pending_.empty()) return;
  const auto wrote = ::write(pipe_, pending_.data(), pending_.size());
  if (wrote > 0) pending_.erase(0, static_cast<std::size_t>(wrote));
  if (wrote < 0 && errno != EAGAIN && errno != EINTR) stop();  // the rank no longer reads
}

}  // namespace aqrun
