#include "tools/aqrun/tube.hpp"

#include "tools/launch/sender.hpp"

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace aqrun {

Tube::Tube(int descriptor) : descriptor_(descriptor) {
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

Tube::Tube(Tube&& from) noexcept
    : descriptor_(std::exchange(from.descriptor_, -1)),
      tells_senders_(from.tells_senders_),
      sender_(from.sender_),
      pending_(std::move(from.pending_)),
      written_(std::exchange(from.written_, 0)) {
  from.pending_.clear();
}

Tube& Tube::operator=(Tube&& from) noexcept {
  std::swap(descriptor_, from.descriptor_);
  std::swap(tells_senders_, from.tells_senders_);
  std::swap(sender_, from.sender_);
  std::swap(pending_, from.pending_);
  std::swap(written_, from.written_);
  return *this;
}

void Tube::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  pending_.clear();
  written_ = 0;
}

void Tube::tell_senders() noexcept {
  aqueduct::launch::tell_senders(descriptor_);
  tells_senders_ = true;
}

Tube::Got Tube::read(std::string& into, std::size_t most) {
  into.resize(is_open() ? most : 0);
  if (into.empty()) return Got::nothing;
  const auto got = tells_senders_ ? aqueduct::launch::receive(
                                        descriptor_, std::as_writable_bytes(std::span(into)), sender_)
                                  : ::read(descriptor_, into.data(), into.size());
  const bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
  into.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got > 0) return Got::some;
  if (later) return Got::nothing;
  close();
  return Got::ended;
}

void Tube::write(std::string_view bytes) {
  if (!is_open()) return;
  pending_ += bytes;
  while (pending() > 0) {
    const auto wrote = ::write(descriptor_, pending_.data() + written_, pending());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0) return close();
    written_ += static_cast<std::size_t>(wrote);
  }
  if (written_ < pending_.size() / 2) return;  // erases written bytes only when that is cheap
  pending_.erase(0, written_);
  written_ = 0;
}

void Tube::wait_for(std::vector<pollfd>& events, bool to_read) const {
  if (!is_open()) return;
  const int wanted = (to_read ? POLLIN : 0) | (pending() > 0 ? POLLOUT : 0);
  if (wanted != 0) events.push_back({descriptor_, static_cast<short>(wanted), 0});
}

}  // namespace aqrun
