#include "tools/launch/sender.hpp"

#include <cstring>

#include <sys/socket.h>

namespace aqueduct::launch {

void tell_senders(int socket) noexcept {
  const int on = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
}

ssize_t receive(int socket, std::span<std::byte> into, pid_t& sender) noexcept {
  iovec piece{into.data(), into.size()};
  alignas(cmsghdr) std::byte beside[CMSG_SPACE(sizeof(ucred))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = beside;
  message.msg_controllen = sizeof beside;
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0) return got;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS) continue;
    ucred who{};
    std::memcpy(&who, CMSG_DATA(one), sizeof who);
    sender = who.pid;
  }
  return got;
}

}  // namespace aqueduct::launch
