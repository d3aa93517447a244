#include "tools/aqperf/raw/udp_flood.hpp"

#include "tools/aqperf/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <netinet/udp.h>
#include <sys/uio.h>

namespace aqueduct::perf {

namespace {

using namespace std::chrono_literals;

// Specified: the most segments of one send that every kernel with UDP_SEGMENT accepts.
constexpr std::size_t kMostSegments = 64;
constexpr std::size_t kMostTrain = 65'000;
// Chosen: what a train occupies in the receiver's buffer in addition to twice its bytes.
constexpr std::size_t kTrainOverhead = 4096;
// Chosen: about as much as TCP keeps in flight; if the receiver keeps up, far less is.
constexpr std::uint64_t kMostWindow = 2 << 20;
constexpr int kSocketBuffer = 8 << 20;
// Chosen: a credit takes microseconds; after this long something was lost.
constexpr auto kAskAgain = 5ms;
constexpr auto kSenderGivesUp = 200ms;
constexpr auto kReceiverGivesUp = 1000ms;

/// A mark tells the receiver how many bytes were sent. Its length is one that no datagram of the flood has.
constexpr std::size_t kMarkBytes = 7;

void enlarge_buffers(BareSocket& socket) {
  if (!socket.set(SOL_SOCKET, SO_RCVBUFFORCE, kSocketBuffer))
    socket.set(SOL_SOCKET, SO_RCVBUF, kSocketBuffer);
  if (!socket.set(SOL_SOCKET, SO_SNDBUFFORCE, kSocketBuffer))
    socket.set(SOL_SOCKET, SO_SNDBUF, kSocketBuffer);
}

}  // namespace

UdpFlood::UdpFlood(BareSocket connected, bool sends, std::size_t segment, Patience patience)
    : socket_(std::move(connected)),
      patience_(patience),
      sends_(sends),
      segment_(std::clamp(segment, kLeastSegment, kMostSegment)),
      train_(segment_ * std::clamp<std::size_t>(kMostTrain / segment_, 1, kMostSegments)),
      buffer_(65'536) {
  enlarge_buffers(socket_);
  const auto room = static_cast<std::size_t>(std::max(0, socket_.value(SOL_SOCKET, SO_RCVBUF)));
  window_ = std::min<std::uint64_t>(kMostWindow, room / (2 * train_ + kTrainOverhead) * train_);
  window_ = std::max<std::uint64_t>(window_, train_);
  const bool can = sends_ ? socket_.set(IPPROTO_UDP, UDP_SEGMENT, static_cast<int>(segment_))
                          : socket_.set(IPPROTO_UDP, UDP_GRO, 1);
  if (!can) throw Failure("--vs raw: this kernel has no UDP_SEGMENT or UDP_GRO", 1);
}

void UdpFlood::run(std::uint64_t bytes) {
  target_ += (bytes + segment_ - 1) / segment_ * segment_;
  if (sends_) {
    send_all();
  } else {
    receive_all();
  }
}

void UdpFlood::send_all() {
  while (sent_ < target_) {
    if (sent_ - heard_ > window_ / 2) hear();
    if (sent_ - heard_ > window_ - train_) await_room(window_ - train_);
    if (!send_train()) hear();
  }
  await_room(0);
}

bool UdpFlood::send_train() {
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(train_, target_ - sent_));
  const auto sent = ::send(socket_.get(), buffer_.data(), bytes, 0);
  if (sent > 0) {
    sent_ += static_cast<std::uint64_t>(sent);
    return true;
  }
  if (errno != EAGAIN && errno != ENOBUFS && errno != ECONNREFUSED) {
    throw Failure("--vs raw: a bare UDP send of " + std::to_string(bytes) + " bytes in datagrams of " +
                      std::to_string(segment_) + ": " + std::strerror(errno),
                  1);
  }
  return false;
}

void UdpFlood::await_room(std::uint64_t most_on_the_way) {
  Silence silence;
  patience_.until([&] {
    const auto before = heard_;
    hear();
    if (sent_ - heard_ <= most_on_the_way) return true;
    if (heard_ != before) silence.end();
    if (!silence.lasts_another(kAskAgain)) return false;
    if (silence.length() >= kSenderGivesUp) heard_ = sent_;
    mark();
    return heard_ == sent_;
  });
}

void UdpFlood::hear() noexcept {
  std::uint64_t said = 0;
  while (::recv(socket_.get(), &said, sizeof said, 0) == sizeof said) {
    if (said <= sent_) heard_ = std::max(heard_, said);
  }
}

void UdpFlood::mark() noexcept {
  std::array<std::byte, sizeof sent_> word;
  // Little-endian: the byte that is left out stays 0 up to 2^56 bytes.
  std::memcpy(word.data(), &sent_, sizeof sent_);
  static_cast<void>(::send(socket_.get(), word.data(), kMarkBytes, 0));
}

void UdpFlood::receive_all() {
  Silence silence;
  while (taken_ < target_) {
    patience_.until([&] {
      if (take()) {
        silence.end();
        return true;
      }
      if (!silence.lasts_another(kAskAgain) || silence.length() < kReceiverGivesUp) return false;
      lost_ += target_ - taken_;
      taken_ = target_;
      return true;
    });
  }
  credit();
}

bool UdpFlood::take() {
  iovec piece{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto got = ::recvmsg(socket_.get(), &message, 0);
  if (got <= 0) return false;
  auto bytes = static_cast<std::size_t>(got);
  // A mark may arrive as the shorter last one of joined datagrams.
  if (bytes % segment_ == kMarkBytes) {
    bytes -= kMarkBytes;
    taken_ += bytes;
    std::uint64_t sent = 0;
    std::memcpy(&sent, buffer_.data() + bytes, kMarkBytes);
    if (sent > taken_) {
      lost_ += sent - taken_;
      taken_ = sent;
    }
    credit();
    return true;
  }
  taken_ += bytes;
  if (taken_ - credited_ >= window_ / 4) credit();
  return true;
}

void UdpFlood::credit() noexcept {
  if (::send(socket_.get(), &taken_, sizeof taken_, 0) == sizeof taken_) credited_ = taken_;
}

}  // namespace aqueduct::perf
