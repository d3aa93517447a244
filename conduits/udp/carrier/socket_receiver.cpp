#include "conduits/udp/carrier/socket_receiver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <netinet/udp.h>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kAlign = 64;

// Chosen: buffers a power of two apart would compete for the same few cache lines.
constexpr std::size_t stride(std::size_t bytes) noexcept {
  return (bytes + kAlign - 1) / kAlign * kAlign + kAlign;
}

template <class T>
T value_of(const cmsghdr* control) noexcept {
  T value;
  std::memcpy(&value, CMSG_DATA(control), sizeof value);
  return value;
}

}  // namespace

SocketReceiver::SocketReceiver(int socket, Shape shape, Carrier::Counters& counters)
    : socket_(socket),
      shape_(shape),
      counters_(counters),
      // Not initialized: the system provides no pages for buffers that no datagram reaches.
      memory_(
          static_cast<std::byte*>(std::aligned_alloc(kAlign, shape.buffers * stride(shape.buffer_bytes)))),
      pieces_(shape.buffers),
      controls_(shape.buffers),
      messages_(shape.buffers),
      incoming_(shape.buffers) {
  if (memory_ == nullptr) throw std::bad_alloc();
  for (std::size_t i = 0; i < shape.buffers; ++i) {
    pieces_[i] = {memory_.get() + i * stride(shape.buffer_bytes), shape.buffer_bytes};
    msghdr& head = messages_[i].msg_hdr;
    head.msg_iov = &pieces_[i];
    head.msg_iovlen = 1;
    head.msg_control = controls_[i].bytes.data();
    head.msg_controllen = controls_[i].bytes.size();
  }
}

std::span<const Incoming> SocketReceiver::receive(std::size_t most) noexcept {
  incoming_used_ = 0;
  most = std::min(most, shape_.buffers);
  if (most == 1 && shape_.plain) {
    read_plain();
  } else if (most > 1 && shape_.many_messages) {
    read_many(most);
  } else {
    for (std::size_t i = 0; i < most; ++i) {
      if (read_one(i) == 0) break;
    }
  }
  return std::span(incoming_).first(incoming_used_);
}

// The socket may report an error of an earlier send. That call has read nothing, so there is a second attempt.
std::size_t SocketReceiver::read_one(std::size_t buffer) noexcept {
  for (int attempt = 0; attempt < 2; ++attempt) {
    ++counters_.receive_calls;
    const ssize_t bytes = ::recvmsg(socket_, &messages_[buffer].msg_hdr, MSG_DONTWAIT);
    if (bytes >= 0) {
      take(buffer, static_cast<std::size_t>(bytes));
      return 1;
    }
    if (errno == EAGAIN) return 0;
  }
  return 0;
}

// Without control messages a read of an empty socket takes a third less time, and most reads find an empty socket.
std::size_t SocketReceiver::read_plain() noexcept {
  for (int attempt = 0; attempt < 2; ++attempt) {
    ++counters_.receive_calls;
    const ssize_t bytes = ::recv(socket_, pieces_[0].iov_base, pieces_[0].iov_len, MSG_DONTWAIT);
    if (bytes > 0) {
      ++counters_.received;
      counters_.received_bytes += static_cast<std::size_t>(bytes);
      incoming_[incoming_used_++] = {
          {static_cast<std::byte*>(pieces_[0].iov_base), static_cast<std::size_t>(bytes)}, 0};
      return 1;
    }
    if (bytes == 0 || errno == EAGAIN) return 0;
  }
  return 0;
}

std::size_t SocketReceiver::read_many(std::size_t most) noexcept {
  for (int attempt = 0; attempt < 2; ++attempt) {
    ++counters_.receive_calls;
    const int count =
        ::recvmmsg(socket_, messages_.data(), static_cast<unsigned>(most), MSG_DONTWAIT, nullptr);
    for (int i = 0; i < count; ++i) {
      const auto buffer = static_cast<std::size_t>(i);
      take(buffer, messages_[buffer].msg_len);
    }
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return 0;
  }
  return 0;
}

void SocketReceiver::take(std::size_t buffer, std::size_t bytes) noexcept {
  msghdr& head = messages_[buffer].msg_hdr;
  std::size_t segment = bytes;
  for (const cmsghdr* control = CMSG_FIRSTHDR(&head); control != nullptr;
       control = CMSG_NXTHDR(&head, const_cast<cmsghdr*>(control))) {
    if (control->cmsg_level == SOL_UDP && control->cmsg_type == UDP_GRO) {
      segment = static_cast<std::size_t>(value_of<int>(control));
    } else if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
      const auto count = value_of<std::uint32_t>(control);
      counters_.overflowed += count - overflowed_;  // correct even if the count has wrapped around
      overflowed_ = count;
    }
  }
  head.msg_controllen = controls_[buffer].bytes.size();
  if ((head.msg_flags & MSG_TRUNC) != 0) {
    ++counters_.truncated;
    return;
  }
  if (bytes == 0) {  // an empty datagram, which the protocol never sends
    ++counters_.received;
    return;
  }
  if (segment == 0 || segment > bytes) segment = bytes;
  counters_.received += (bytes + segment - 1) / segment;
  counters_.received_bytes += bytes;
  auto* const first = static_cast<std::byte*>(pieces_[buffer].iov_base);
  incoming_[incoming_used_++] = {{first, bytes}, segment};
}

}  // namespace aqueduct::conduits::udp
