#include "tiny_conduit.hpp"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tiny {

TinyConduit::TinyConduit(Rank me, int socket, core::Log& log) : me_(me), socket_(socket), log_(log) {
  properties_.name = "tiny";
  properties_.max_packet = kMaxPacket;
}

TinyConduit::~TinyConduit() { ::close(socket_); }

std::vector<std::byte> TinyConduit::address() {
  sockaddr_un name{};
  socklen_t bytes = sizeof name;
  ::getsockname(socket_, reinterpret_cast<sockaddr*>(&name), &bytes);
  const auto* from = reinterpret_cast<const std::byte*>(&name);
  return {from, from + bytes};
}

Status TinyConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  peers_.assign(addresses.begin(), addresses.end());
  return {};
}

core::Post TinyConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  std::uint64_t from = me_;
  iovec parts[] = {{&from, sizeof from},
                   {const_cast<std::byte*>(header.data()), header.size()},
                   {const_cast<std::byte*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_name = peers_[to].data();
  message.msg_namelen = static_cast<socklen_t>(peers_[to].size());
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  if (::sendmsg(socket_, &message, MSG_DONTWAIT) >= 0) return core::Post::done();  // the system has a copy
  if (errno == ECONNREFUSED) return core::Post::failed(ErrorCode::peer_lost);
  if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return core::Post::retry();
  log_.error("tiny: a packet of {} bytes for rank {}: {}", header.size() + payload.size(), to,
             std::strerror(errno));
  return core::Post::failed(ErrorCode::network_failed);
}

int TinyConduit::poll(core::Inbox& inbox) noexcept {
  int found = 0;
  for (; found < 16; ++found) {  // a bounded number, so that a flood from one peer does not starve the caller
    const ssize_t bytes = ::recv(socket_, packet_, sizeof packet_, MSG_DONTWAIT);
    if (bytes < static_cast<ssize_t>(sizeof(std::uint64_t))) break;
    std::uint64_t from = 0;
    std::memcpy(&from, packet_, sizeof from);
    inbox.packet(static_cast<Rank>(from), {packet_ + sizeof from, bytes - sizeof from});
  }
  return found;
}

}  // namespace tiny
