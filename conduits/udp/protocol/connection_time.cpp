#include "conduits/udp/protocol/connection.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::conduits::udp {
namespace {

// Lower bounds of the timer. Chosen: a lost packet on a local network costs less than a time slice, and a peer that
// loses its core for a moment is not flooded.
constexpr Time kLeastTimeout = 5 * kMillisecond;
constexpr Time kFirstGuess = 10 * kMillisecond;
constexpr Time kLeastProbeTimeout = 300 * kMicrosecond;

// Pings per timeout. Chosen: the least rate at which the timer retransmits the long packets.
constexpr Time kPingsWhileSuspected = 16;

constexpr std::uint64_t kFirstWindow = 32 * 1024;
constexpr std::byte kVerificationText[8] = {std::byte{'a'}, std::byte{'q'}, std::byte{'u'}, std::byte{'e'},
                                            std::byte{'d'}, std::byte{'u'}, std::byte{'c'}, std::byte{'t'}};

}  // namespace

Connection::Connection(Common& common, Rank peer, const Secret& peer_secret, Time now, std::size_t peer_base)
    : common_(common),
      peer_(peer),
      out_(common.security, common.secret, peer_secret, common.me, peer, common.job, common.cipher),
      in_(common.security, peer_secret, common.secret, peer, common.me, common.job, common.cipher),
      rtt_(kLeastTimeout, kFirstGuess),
      congestion_(std::min(common.base_mtu(), peer_base), common.burst,
                  common.job ^ (std::uint64_t{common.me} << 32 | peer)),
      mtu_(std::min(common.base_mtu(), peer_base), common.most_datagram, common.mtu_hint),
      peer_window_(kFirstWindow),
      heard_at_(now) {
  reassemblies_.reserve(kMostLongMessages);
  partial_puts_.reserve(kMostBulkTransfers);
  if (common.security == Security::none) {  // no protection, but stray datagrams are rejected
    out_verification_tag_ = Seal(Security::header, common.secret, peer_secret, common.me, peer, common.job)
                                .tag(kVerificationText);
    in_verification_tag_ = Seal(Security::header, peer_secret, common.secret, peer, common.me, common.job)
                               .tag(kVerificationText);
  }
}

Connection::~Connection() { fail(ErrorCode::closed); }

// Time from the last transmission to a tail-loss probe (RFC 8985 section 7).
Time Connection::probe_timeout() const noexcept {
  const Time delay = sent_packets_.empty() || sent_packets_.at(sent_packets_.next() - 1).immediate_ack
                         ? 0
                         : common_.ack_delay;
  return std::max(2 * rtt_.smoothed() + 2 * rtt_.variation() + delay, kLeastProbeTimeout);
}

Time Connection::retransmit_at() const noexcept {
  if (sent_packets_.packets_in_flight() == 0) return kNever;
  if (expiries_ == 0) return sent_packets_.latest_sent() + probe_timeout();
  // The backoff is capped well below the timeout, so that traffic resumes soon after an outage.
  const Time most = std::max(common_.timeout / 16, rtt_.smoothed() + 4 * rtt_.variation());
  return sent_packets_.latest_sent() + std::min(rtt_.timeout(), most);
}

Time Connection::deadline() const noexcept {
  if (ended_) return kNever;
  // A closed window needs no timer: an acknowledgement will open it.
  const Time at = std::min({retransmit_at(), recheck_, ack_at_, mtu_.deadline(), paced_until_});
  return std::min(at, ping_at());
}

Time Connection::ping_at() const noexcept {
  const Time for_life = std::max(heard_at_, pinged_at_) + common_.heartbeat;
  // There may be no other short packets whose acknowledgements would prove that short ones arrive.
  if (!suspected()) return for_life;
  return std::min(for_life, std::max(black_hole_since_, pinged_at_) + common_.timeout / kPingsWhileSuspected);
}

Connection::Liveness Connection::tick(Time now) noexcept {
  if (ended_) return Liveness::alive;
  if (attempts_exhausted_) return Liveness::attempts_exhausted;
  if (now - heard_at_ >= common_.timeout) return Liveness::silent;
  if (in_black_hole(now)) return Liveness::black_hole;
  if (shortage_.lasts(now, sent_packets_.oldest() + received_.next() + received_.end(),
                      common_.no_memory_limit())) [[unlikely]]
    return Liveness::no_memory;
  if (now >= recheck_) {
    const Time window = std::max(rtt_.least() / reordering_, kLeastReordering);
    const std::uint64_t lost = sent_packets_.find_lost(now, rtt_.smoothed(), window, recheck_);
    if (lost != 0)
      congestion_.acknowledged_round(now, 0, rtt_.least(), sent_packets_.bytes_in_flight(), lost);
  }
  if (now >= retransmit_at()) {
    if (expiries_++ == 0) {
      sent_packets_.lose_last();
      tail_probe_due_ = true;
      ++counters_.probes;
    } else {
      sent_packets_.lose_all();
      tail_probe_due_ = false;
      rtt_.back_off();
      congestion_.timed_out(now);
      ++counters_.timeouts;
    }
    next_departure_ = now;
  }
  if (now >= mtu_.deadline()) mtu_.expire(now, std::max(3 * rtt_.smoothed(), 20 * kMillisecond));
  congestion_.set_packet(mtu_.size());
  return Liveness::alive;
}

void Connection::suspect_black_hole_since(Time since) noexcept {
  black_hole_since_ = since;
  shorts_sent_ = shorts_arrived_ = 0;
  short_ping_stamp_.reset();
}

// A network that loses nearly everything may also lose all long packets for the whole timeout. But then it does not
// deliver half of the short ones. So the peer counts as behind a black hole only if enough short packets prove that;
// otherwise the time restarts.
bool Connection::in_black_hole(Time now) noexcept {
  if (!suspected() || now - black_hole_since_ < common_.timeout || quiet(now)) return false;
  if (shorts_arrived_ >= kShortsThatProve && 2 * shorts_arrived_ >= shorts_sent_) return true;
  suspect_black_hole_since(now);
  return false;
}

// Called before each retransmission. Large packets that are lost again and again while none of them arrives are too
// large for the path now (RFC 8899: black hole). Small packets may still arrive, so no timeout would detect this.
void Connection::suspect_black_hole(Time now, const SentPacket& lost) noexcept {
  if (lost.wire_bytes <= mtu_.base()) return;
  if (!suspected()) suspect_black_hole_since(now);
  if (mtu_.size() <= mtu_.base()) return;
  if (++large_retransmissions_ < kSuspectAttempts || lost.attempt + 1u < kSuspectAttempts) return;
  large_retransmissions_ = 0;
  mtu_.black_hole(now, mtu_.size());
}

std::string Connection::text(Time now) const {
  const auto us = [](Time time) { return static_cast<double>(time) / 1e3; };
  const std::string shortage =
      shortage_.failures() == 0
          ? std::string()
          : fmt::format("for lack of memory {} allocations have failed; ", shortage_.failures());
  return shortage +
         fmt::format(
             "sent {} packets ({} bytes), received {} ({} bytes), retransmitted {}, duplicate {}, out of "
             "order {}, "
             "rejected {}, "
             "probes {}, timeouts {}; in flight {} packets ({} bytes), lost {}, round trip {:.0f} us (least "
             "{:.0f}, "
             "varies {:.0f}), "
             "window {} bytes, peer's {}, rate {:.0f} MB/s ({}), packet size {}, heard {:.1f} ms ago",
             counters_.sent, counters_.sent_bytes, counters_.received, counters_.received_bytes,
             counters_.retransmitted, counters_.duplicate, counters_.out_of_order, counters_.rejected,
             counters_.probes, counters_.timeouts, sent_packets_.packets_in_flight(),
             sent_packets_.bytes_in_flight(), sent_packets_.lost(), us(rtt_.smoothed()), us(rtt_.least()),
             us(rtt_.variation()), congestion_.window(), peer_window_, congestion_.bandwidth() / 1e6,
             congestion_.phase(), mtu_.size(), static_cast<double>(now - heard_at_) / 1e6);
}

}  // namespace aqueduct::conduits::udp
