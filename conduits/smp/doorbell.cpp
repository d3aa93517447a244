#include "conduits/smp/doorbell.hpp"

#include "core/descriptors.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

constexpr std::size_t kDigits = 5;  // specified: unix(7)
constexpr socklen_t kNamedBytes = offsetof(sockaddr_un, sun_path) + 1 + kDigits;
// Chosen: more than the system queues (net.unix.max_dgram_qlen, 10); it also ends the loop if a peer rings without
// pause.
constexpr int kMostRings = 64;

int datagram_socket() noexcept {
  return core::above_standard(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

Doorbell make_doorbell() noexcept {
  const int fd = datagram_socket();
  if (fd < 0) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  std::uint32_t name = 0;
  if (::bind(fd, generic, sizeof address.sun_family) == 0 && ::getsockname(fd, generic, &bytes) == 0 &&
      bytes == kNamedBytes) {
    const char* const digits = address.sun_path + 1;
    const auto [end, error] = std::from_chars(digits, digits + kDigits, name, 16);
    if (error == std::errc{} && end == digits + kDigits) return {fd, name};
  }
  ::close(fd);
  return {};
}

void ring_doorbell(std::uint32_t name) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  char* const digits = address.sun_path + 1;
  std::fill_n(digits, kDigits, '0');
  char text[kDigits];
  const auto [end, error] = std::to_chars(text, text + kDigits, name, 16);
  if (error != std::errc{}) return;
  std::copy_backward(text, end, digits + kDigits);
  // A new socket for each ring: it costs a few microseconds, and waking up takes the sleeper tens of them.
  const int fd = datagram_socket();
  if (fd < 0) return;
  // Failures do not matter: there is no such rank, or its queue is full of rings and the sleep is over.
  static_cast<void>(
      ::sendto(fd, "", 1, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), kNamedBytes));
  ::close(fd);
}

void silence_doorbell(int socket) noexcept {
  char ring = 0;
  for (int rings = 0; rings < kMostRings; ++rings) {
    if (::recv(socket, &ring, sizeof ring, MSG_DONTWAIT) < 0) return;
  }
}

}  // namespace aqueduct::conduits::smp
