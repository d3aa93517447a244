#include "conduits/udp/carrier/socket_sender.hpp"

#include "conduits/udp/carrier/datagram_splitter.hpp"
#include "conduits/udp/carrier/socket_setup.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <netinet/udp.h>

namespace aqueduct::conduits::udp {
namespace {

std::size_t datagram_bytes(const Outgoing& outgoing) noexcept {
  const bool whole = outgoing.segment == 0 || outgoing.segment >= outgoing.bytes;
  return whole ? outgoing.bytes : outgoing.segment;
}

std::size_t datagrams(const Outgoing& outgoing) noexcept {
  const std::size_t each = datagram_bytes(outgoing);
  return each == 0 ? 1 : (outgoing.bytes + each - 1) / each;
}

// Returns 1 or -1. A datagram of one piece uses sendto, which reads less from memory.
int send_message(int socket, const msghdr& head) noexcept {
  const bool plain = head.msg_iovlen == 1 && head.msg_control == nullptr;
  const ssize_t sent = plain ? ::sendto(socket, head.msg_iov->iov_base, head.msg_iov->iov_len, MSG_DONTWAIT,
                                        static_cast<const sockaddr*>(head.msg_name), head.msg_namelen)
                             : ::sendmsg(socket, &head, MSG_DONTWAIT);
  return sent < 0 ? -1 : 1;
}

}  // namespace

SocketSender::SocketSender(int socket, sa_family_t family, Abilities abilities, Carrier::Counters& counters,
                           core::Log& log)
    : socket_(socket),
      family_(family),
      abilities_(abilities),
      counters_(counters),
      log_(log),
      messages_(kMessages),
      owners_(kMessages),
      controls_(kMessages),
      pieces_(kPieces) {
  for (Control& control : controls_) {  // only the segment size changes from call to call
    cmsghdr head{};
    head.cmsg_level = SOL_UDP;
    head.cmsg_type = UDP_SEGMENT;
    head.cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    control.bytes.fill(std::byte{0});
    std::memcpy(control.bytes.data(), &head, sizeof head);
  }
}

std::size_t SocketSender::take_too_long() noexcept { return std::exchange(too_long_, 0); }

std::size_t SocketSender::send(std::span<const Outgoing> batch) noexcept {
  std::size_t taken = 0;
  while (taken < batch.size()) {
    const auto rest = batch.subspan(taken);
    const std::size_t queued = queue(rest, abilities_.segmentation);
    const bool lift_mark = rest[0].may_fragment && abilities_.dont_fragment;
    const Flushed flushed = lift_mark ? flush_fragmented(queued) : flush(queued);
    taken += flushed.outgoings;
    if (flushed.why == Stop::no_room) break;
    if (flushed.why == Stop::no_segmentation) {
      if (!send_without_segmentation(batch[taken])) break;
      ++taken;
    }
  }
  return taken;
}

// Queues as many from the front as there is room for, all with the same `may_fragment`; at least one.
std::size_t SocketSender::queue(std::span<const Outgoing> batch, bool may_segment) noexcept {
  messages_used_ = 0;
  pieces_used_ = 0;
  std::size_t queued = 0;
  while (queued < batch.size() && batch[queued].may_fragment == batch[0].may_fragment) {
    if (!queue_one(batch[queued], queued, may_segment)) {
      if (queued != 0) break;
      // It does not fit even alone, so it has more datagrams than most_segments() allows. No system would take it
      // either.
      refuse(EMSGSIZE, datagrams(batch[0]), datagram_bytes(batch[0]));
    }
    ++queued;
  }
  return queued;
}

bool SocketSender::queue_one(const Outgoing& outgoing, std::size_t owner, bool may_segment) noexcept {
  const std::size_t each = datagram_bytes(outgoing);
  const bool one = each == outgoing.bytes;
  // The system does not segment datagrams that it would also have to fragment.
  if (!one && (!may_segment || outgoing.may_fragment)) return queue_datagrams(outgoing, owner);
  if (messages_used_ == kMessages) return false;
  // sendmsg does not write to the pieces although its type is not const.
  add(outgoing, owner, const_cast<iovec*>(outgoing.pieces.data()), outgoing.pieces.size(), outgoing.bytes,
      one ? 0 : each);
  return true;
}

bool SocketSender::queue_datagrams(const Outgoing& outgoing, std::size_t owner) noexcept {
  const std::size_t count = datagrams(outgoing);
  if (count > kMessages - messages_used_ || count + outgoing.pieces.size() > kPieces - pieces_used_)
    return false;
  DatagramSplitter splitter(outgoing.pieces);
  for (std::size_t left = outgoing.bytes; left != 0;) {
    const std::size_t bytes = std::min(outgoing.segment, left);
    const std::span<iovec> room = std::span(pieces_).subspan(pieces_used_);
    const std::size_t used = splitter.take(bytes, room);
    add(outgoing, owner, room.data(), used, bytes, 0);
    pieces_used_ += used;
    left -= bytes;
  }
  return true;
}

void SocketSender::add(const Outgoing& outgoing, std::size_t owner, iovec* pieces, std::size_t count,
                       std::size_t bytes, std::size_t segment) noexcept {
  msghdr& head = messages_[messages_used_].msg_hdr;
  head.msg_name = connected_ ? nullptr : const_cast<sockaddr*>(outgoing.to->get());
  head.msg_namelen = connected_ ? 0 : outgoing.to->bytes;
  head.msg_iov = pieces;
  head.msg_iovlen = count;
  head.msg_control = nullptr;
  head.msg_controllen = 0;
  owners_[messages_used_] = {owner, 1, bytes, bytes, outgoing.to};
  if (segment != 0) {
    Control& control = controls_[messages_used_];
    const auto number = static_cast<std::uint16_t>(segment);
    std::memcpy(control.bytes.data() + CMSG_LEN(0), &number, sizeof number);
    head.msg_control = control.bytes.data();
    head.msg_controllen = control.bytes.size();
    owners_[messages_used_] = {owner, (bytes + segment - 1) / segment, bytes, segment, outgoing.to};
  }
  ++messages_used_;
}

SocketSender::Flushed SocketSender::flush(std::size_t outgoings) noexcept {
  std::size_t reported = 0;  // one more than the last message whose call reported an earlier datagram's error
  for (std::size_t next = 0; next < messages_used_;) {
    const bool one = !abilities_.many_messages || next + 1 == messages_used_;
    const auto left = static_cast<unsigned>(messages_used_ - next);
    ++counters_.send_calls;
    const int sent = one ? send_message(socket_, messages_[next].msg_hdr)
                         : ::sendmmsg(socket_, &messages_[next], left, MSG_DONTWAIT);
    for (int i = 0; i < sent; ++i, ++next) {
      counters_.sent += owners_[next].datagrams;
      counters_.sent_bytes += owners_[next].bytes;
    }
    if (sent >= 0) continue;
    const Owner& owner = owners_[next];
    if (errno == EINTR) continue;
    // A connected socket reports an earlier datagram's error at the next call. That call has sent nothing.
    if (connected_ && (errno == ECONNREFUSED || errno == EMSGSIZE) &&
        std::exchange(reported, next + 1) != next + 1)
      continue;
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
      ++counters_.no_room;
      return {Stop::no_room, owner.outgoing};
    }
    const bool segmented = messages_[next].msg_hdr.msg_control != nullptr;
    if (segmented && (errno == EIO || errno == EINVAL)) return {Stop::no_segmentation, owner.outgoing};
    const int problem = errno;
    refuse(problem, owner.datagrams, owner.datagram_bytes);
    tell(problem, *owner.to);
    ++next;
  }
  return {Stop::all_sent, outgoings};
}

SocketSender::Flushed SocketSender::flush_fragmented(std::size_t outgoings) noexcept {
  set_dont_fragment(socket_, family_, false);
  const Flushed flushed = flush(outgoings);
  set_dont_fragment(socket_, family_, true);
  return flushed;
}

// The system has refused to segment. EIO and EINVAL mean that this interface cannot. But EINVAL may also mean that a
// segment is longer than the interface's MTU; then the single datagrams are refused too.
bool SocketSender::send_without_segmentation(const Outgoing& outgoing) noexcept {
  const std::uint64_t refused = counters_.refused;
  queue({&outgoing, 1}, false);
  const bool taken = flush(1).why == Stop::all_sent;
  if (taken && counters_.refused == refused) {
    abilities_.segmentation = false;
    ++segmentation_failures_;
  }
  return taken;
}

void SocketSender::refuse(int problem, std::size_t count, std::size_t bytes_of_each) noexcept {
  counters_.refused += count;
  if (problem != EMSGSIZE) {
    last_error_ = problem;
    return;
  }
  counters_.too_long += count;
  too_long_ = too_long_ == 0 ? bytes_of_each : std::min(too_long_, bytes_of_each);
}

// Each reason once. Lengths are a matter of path MTU discovery, and ECONNREFUSED is about an earlier datagram: its receiver has
// ended.
void SocketSender::tell(int problem, const Address& to) noexcept try {
  if (problem == EMSGSIZE || problem == ECONNREFUSED || told_of_ == told_.size()) return;
  const auto end = told_.begin() + static_cast<std::ptrdiff_t>(told_of_);
  if (std::find(told_.begin(), end, problem) != end) return;
  told_[told_of_++] = problem;
  log_.warn(
      "udp: this system refuses to send to {}: {}. See the interface (ip link), the route (ip route get) and "
      "the "
      "firewall's rules for what leaves. Packets are tried again until AQUEDUCT_UDP_TIMEOUT",
      to.text(), std::strerror(problem));
} catch (const std::bad_alloc&) {
}

}  // namespace aqueduct::conduits::udp
