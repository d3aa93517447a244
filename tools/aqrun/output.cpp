#include "tools/aqrun/output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqrun {
namespace {

/// With more bytes waiting for our reader, the ranks have to wait; chosen.
constexpr std::size_t kMostPending = std::size_t{256} << 10;
/// Longer lines are split; chosen, in bytes.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

bool is_regular_file(int descriptor) {
  struct stat about {};
  return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

}  // namespace

Output::Output(int to)
    : to_(to), epoll_(::epoll_create1(EPOLL_CLOEXEC)), whole_writes_(is_regular_file(to)) {}

Output::~Output() {
  close_pipes();
  ::close(epoll_);
}

int Output::add(std::string label) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = ends[0];
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, ends[0], &interest) != 0) {
    const int why = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    errno = why;
    return -1;
  }
  streams_.emplace(ends[0], Stream{std::move(label), {}});
  return ends[1];
}

int Output::add_remote(std::string label) {
  const int remote = -(++remotes_) - 1;  // -1 means failure elsewhere
  streams_.emplace(remote, Stream{std::move(label), {}});
  return remote;
}

void Output::put(int remote, std::string_view bytes) {
  const auto found = streams_.find(remote);
  if (found == streams_.end()) return;
  if (bytes.empty()) return close_stream(remote);
  take(found->second, bytes);
}

void Output::say(std::string_view line) {
  if (is_broken()) return;
  // Starts a new line if the last output of a rank is known to end within one.
  if (!pending_.empty() && pending_.back() != '\n') pending_ += '\n';
  pending_.append(line) += '\n';
}

bool Output::congested() const noexcept { return pending_.size() - written_ >= kMostPending; }

void Output::wait_for(std::vector<pollfd>& events) const {
  if (!streams_.empty() && !congested()) events.push_back({epoll_, POLLIN, 0});
  if (!pending_.empty()) events.push_back({to_, POLLOUT, 0});
}

bool Output::finished() const {
  pollfd readable{epoll_, POLLIN, 0};
  return pending_.empty() && (streams_.empty() || ::poll(&readable, 1, 0) <= 0);
}

void Output::serve() {
  if (!congested()) {
    std::array<epoll_event, 64> ready;
    const int count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), 0);
    for (int i = 0; i < count && !congested(); ++i) {
      const int pipe = ready[static_cast<std::size_t>(i)].data.fd;
      if (!read_from(pipe)) close_stream(pipe);
    }
  }
  write_out();
}

bool Output::read_from(int pipe) {
  const auto got = ::read(pipe, piece_.get(), kMostRead);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  take(streams_[pipe], {piece_.get(), static_cast<std::size_t>(got)});
  return true;
}

void Output::take(Stream& stream, std::string_view bytes) {
  if (stream.label.empty()) {
    pending_ += bytes;
    return;
  }
  for (;;) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    stream.line += bytes.substr(0, end);
    put_line(stream, stream.line);
    stream.line.clear();
    bytes.remove_prefix(end + 1);
  }
  stream.line += bytes;
  if (stream.line.size() >= kLongestLine) {
    put_line(stream, stream.line);
    stream.line.clear();
  }
}

void Output::put_line(const Stream& stream, std::string_view line) {
  pending_ += stream.label;
  pending_ += line;
  pending_ += '\n';
}

void Output::write_out() {
  while (written_ < pending_.size()) {
    pollfd writable{to_, POLLOUT, 0};
    if (::poll(&writable, 1, 0) == 0) break;
    // A pipe that is writable accepts PIPE_BUF bytes without blocking; whole lines if possible. Setting O_NONBLOCK
    // instead would set it for every process that shares the terminal.
    std::string_view rest = std::string_view(pending_).substr(written_);
    if (!whole_writes_ && rest.size() > PIPE_BUF) {
      const auto line_end = rest.rfind('\n', PIPE_BUF - 1);
      rest = rest.substr(0, line_end == std::string_view::npos ? PIPE_BUF : line_end + 1);
    }
    const auto wrote = ::write(to_, rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) return give_up(errno);
    written_ += static_cast<std::size_t>(wrote);
    accepted_ += static_cast<std::uint64_t>(wrote);
  }
  // Drops bytes that are already written, if that is cheap.
  if (written_ >= pending_.size() / 2) {
    pending_.erase(0, written_);
    written_ = 0;
  }
}

void Output::give_up(int why) {
  failure_ = why;
  pending_.clear();
  written_ = 0;
  close_pipes();  // the ranks get EPIPE, as this process did
  streams_.clear();
}

void Output::close_pipes() noexcept {
  for (const auto& [pipe, stream] : streams_) {
    if (pipe >= 0) ::close(pipe);
  }
}

void Output::close_stream(int pipe) {
  const auto found = streams_.find(pipe);
  if (found == streams_.end()) return;
  if (!found->second.line.empty()) put_line(found->second, found->second.line);
  streams_.erase(found);
  if (pipe >= 0) ::close(pipe);
}

}  // namespace aqrun
