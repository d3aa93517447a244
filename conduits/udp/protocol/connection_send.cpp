// Which packet leaves next, and when.

#include "conduits/udp/protocol/connection.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::udp {

bool Connection::waiting() const noexcept {
  return open_ != nullptr || !ready_.empty() || !long_messages_.empty() || !bulk_transfers_.empty() ||
         sent_packets_.lost() != 0;
}

// Whether a packet may leave now, by the congestion window, the peer's advertised window, and pacing. One packet may
// always be in flight: its acknowledgement is what opens a window again.
bool Connection::may_send(Time now, std::size_t bytes) noexcept {
  if (sent_packets_.packets_in_flight() == 0 || tail_probe_due_) return true;
  if (now < next_departure_) {
    paced_until_ = next_departure_;
    return false;
  }
  return sent_packets_.bytes_in_flight() + bytes <= congestion_.window() &&
         sent_packets_.charged() + bytes + kPacketCharge <= peer_window_;
}

void Connection::advance_pacing(Time now, std::size_t bytes) noexcept {
  const double rate = congestion_.rate();
  // After a pause, at most one millisecond's worth is sent to catch up.
  if (rate > 0) {
    const auto pause = static_cast<Time>(static_cast<double>(bytes) / rate * 1e9);
    next_departure_ = std::max(next_departure_, now - kMillisecond) + std::min(pause, kSecond);
  }
}

SentPacket Connection::new_packet(Time now, SentPacket::Kind kind, std::size_t wire_bytes) noexcept {
  SentPacket sent;
  sent.kind = kind;
  sent.wire_bytes = static_cast<std::uint32_t>(wire_bytes);
  sent.sent_at = now;
  sent.snapshot = congestion_.sent(now, wire_bytes, sent_packets_.bytes_in_flight());
  note_short(wire_bytes);
  return sent;
}

bool Connection::fill(Time now, GsoBatch& batch, bool& may_fragment) noexcept {
  may_fragment = false;
  paced_until_ = kNever;
  if (ended_) return false;
  if (answer_probe_ != 0) return fill_control(now, batch, PacketKind::probe_answer);
  // MTU probes go first: there may always be other packets waiting.
  bool filled = false;
  if (!sent_packets_.empty() && fill_probe(now, batch)) {
    filled = true;
  } else if (sent_packets_.lost() != 0) {
    filled = fill_lost(now, batch, may_fragment);
  } else if (waiting() && may_remember()) {
    const bool long_waits = !long_messages_.empty() || !bulk_transfers_.empty();
    if ((!ready_.empty() && !(long_waits && shorts_in_row_ >= kMostShortsInRow)) || !long_waits) {
      filled = fill_bundle(now, batch);
      shorts_in_row_ += static_cast<std::uint32_t>(batch.packets());
      may_fragment = batch.segment() > mtu_.size();  // it was built before the path's MTU shrank
    } else {
      if (long_messages_.empty())
        close_bundle();  // short messages do not wait for long ones: they leave with the next batch
      const bool bulk_next = long_messages_.empty() ||
                             (!bulk_transfers_.empty() && long_batches_in_row_ >= kMostLongBatchesInRow);
      filled = bulk_next ? fill_bulk(now, batch) : fill_long_message(now, batch);
      if (filled) {
        shorts_in_row_ = 0;
        long_batches_in_row_ = bulk_next ? 0 : long_batches_in_row_ + 1;
      }
    }
  } else if (!waiting() && !sent_packets_.empty()) {
    congestion_.application_limited(sent_packets_.bytes_in_flight());
  }
  if (filled) {
    advance_pacing(now, batch.bytes());
    return true;
  }
  if (ack_at_ <= now) return fill_control(now, batch, PacketKind::control);
  return false;
}

void Connection::append_packet(Time now, GsoBatch& batch, PacketHeader header, std::byte* front,
                               std::size_t frames, const std::byte* data, std::size_t data_bytes) noexcept {
  header.from = common_.me;
  header.to = peer_;
  header.stamp = stamp_of(now);
  header.frames = static_cast<std::uint16_t>(frames);
  header.data = static_cast<std::uint16_t>(data_bytes);
  header.tag = out_verification_tag_;
  const std::size_t front_bytes = sizeof header + frames;
  std::memcpy(front, &header, sizeof header);
  ++counters_.sent;
  counters_.sent_bytes += front_bytes + data_bytes + trailer();
  switch (common_.security) {
    case Security::none: break;
    case Security::header:
      header.tag = out_.tag({front, front_bytes});
      std::memcpy(front + offsetof(PacketHeader, tag), &header.tag, sizeof header.tag);
      break;
    case Security::full: {  // encrypts a copy: the original is needed for retransmission
      std::byte* whole = batch.scratch();
      std::memmove(whole, front, front_bytes);
      if (data_bytes != 0) std::memmove(whole + front_bytes, data, data_bytes);
      const std::size_t text = frames + data_bytes;
      out_.encrypt({whole, sizeof header}, {whole + sizeof header, text}, whole + sizeof header + text,
                   header.number, header.attempt | static_cast<std::uint32_t>(header.kind) << 16);
      batch.append(whole, sizeof header + text + Seal::kTrailer, nullptr, 0);
      return;
    }
  }
  batch.append(front, front_bytes, data, data_bytes);
}

// Retransmits a lost packet: the same content under the same number. A packet that was built for a larger MTU than
// the path now has is fragmented by IP.
bool Connection::fill_lost(Time now, GsoBatch& batch, bool& may_fragment) noexcept {
  const std::uint64_t number = sent_packets_.first_lost();
  SentPacket& sent = sent_packets_.at(number);
  if (!may_send(now, sent.wire_bytes)) return false;
  tail_probe_due_ = false;
  suspect_black_hole(now, sent);
  // The attempt number is part of the nonce and must not wrap around.
  if (sent.attempt == UINT16_MAX) attempts_exhausted_ = true;
  if (attempts_exhausted_) return false;
  sent_packets_.again(number, now, congestion_.sent(now, sent.wire_bytes, sent_packets_.bytes_in_flight()));
  note_short(sent.wire_bytes);
  ++counters_.retransmitted;
  switch (sent.kind) {
    case SentPacket::Kind::bundle: append_bundle(now, batch, *sent.bundle, number, sent.attempt); break;
    case SentPacket::Kind::long_message:
      append_long_message(now, batch, *sent.long_message, number, sent);
      break;
    case SentPacket::Kind::fragment: append_fragment(now, batch, *sent.long_message, number, sent); break;
    case SentPacket::Kind::bulk: append_bulk(now, batch, *sent.bulk, number, sent); break;
  }
  may_fragment = batch.bytes() > mtu_.size() || sent.attempt >= kSuspectAttempts;
  return true;
}

}  // namespace aqueduct::conduits::udp
