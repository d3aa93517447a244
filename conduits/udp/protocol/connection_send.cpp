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

std::size_t Connection::write_ack(Time now, std::byte* to, std::size_t most_ranges) noexcept {
  AckFrame frame;
  NumberRange ranges[kMostAckRanges];
  const std::size_t count = received_.gaps() ? received_.ranges({ranges, most_ranges}) : 0;
  frame.ranges = static_cast<std::uint8_t>(count);
  frame.delay = UINT16_MAX;
  if (echo_at_ != 0) {
    frame.echo = echo_;
    frame.delay =
        static_cast<std::uint16_t>(std::clamp<Time>((now - echo_at_) >> kStampShift, 0, Time{UINT16_MAX}));
  }
  frame.next = received_.next();
  frame.window = common_.window;
  frame.duplicates = static_cast<std::uint32_t>(counters_.duplicate);
  std::memcpy(to, &frame, sizeof frame);
  std::uint64_t end = frame.next;
  for (std::size_t i = 0; i < count; ++i) {
    const AckRange range{static_cast<std::uint32_t>(ranges[i].first - end),
                         static_cast<std::uint32_t>(ranges[i].end - ranges[i].first)};
    end = ranges[i].end;
    std::memcpy(to + sizeof frame + i * sizeof range, &range, sizeof range);
  }
  ack_at_ = kNever;
  unacknowledged_ = 0;
  return sizeof frame + count * sizeof(AckRange);
}

bool Connection::fill_control(Time now, GsoBatch& batch, PacketKind kind) noexcept {
  std::byte* front = batch.head();
  std::byte* frames = front + sizeof(PacketHeader);
  PacketHeader header;
  header.kind = kind;
  header.number = control_number_++;
  std::size_t bytes = 0;
  if (kind == PacketKind::probe_answer) {
    const ProbeFrame frame{.bytes = static_cast<std::uint32_t>(answer_probe_)};
    std::memcpy(frames, &frame, sizeof frame);
    bytes = sizeof frame;
    answer_probe_ = 0;
  } else {
    bytes = write_ack(now, frames, kMostAckRanges);
  }
  append_packet(now, batch, header, front, bytes, nullptr, 0);
  return true;
}

bool Connection::fill_ping(Time now, GsoBatch& batch) noexcept {
  if (ended_ || now < ping_at()) return false;
  pinged_at_ = now;
  if (suspected()) {
    short_ping_stamp_ = stamp_of(now);
    ++shorts_sent_;
  }
  return fill_control(now, batch, PacketKind::ping);
}

bool Connection::fill_bare_ping(Time now, GsoBatch& batch) noexcept {
  if (ended_ || now < ping_at()) return false;
  pinged_at_ = now;
  PacketHeader header;
  header.kind = PacketKind::ping;
  header.number = control_number_++;
  append_packet(now, batch, header, batch.head(), 0, nullptr, 0);
  return true;
}

void Connection::fill_close(Time now, GsoBatch& batch) noexcept {
  std::byte* front = batch.head();
  std::byte* frames = front + sizeof(PacketHeader);
  PacketHeader header;
  header.kind = PacketKind::control;
  header.number = control_number_++;
  std::size_t bytes = write_ack(now, frames, kHeadroomRanges);
  const CloseFrame frame;
  std::memcpy(frames + bytes, &frame, sizeof frame);
  bytes += sizeof frame;
  append_packet(now, batch, header, front, bytes, nullptr, 0);
}

bool Connection::fill_probe(Time now, GsoBatch& batch) noexcept {
  const std::size_t bytes = mtu_.probe_due(now);
  if (bytes == 0 || bytes > common_.most_datagram) return false;
  std::byte* front = batch.scratch();
  std::memset(front, 0, bytes);
  PacketHeader header;
  header.kind = PacketKind::probe;
  header.number = control_number_++;
  append_packet(now, batch, header, front, 0, front + sizeof header, bytes - sizeof header - trailer());
  mtu_.probe_sent(now, bytes);
  return true;
}

// ------------------------------------------------------------------------------------------------- data packets

void Connection::append_bundle(Time now, GsoBatch& batch, Bundle& bundle, std::uint64_t number,
                               std::uint16_t attempt) noexcept {
  // The acknowledgement goes in front of the frames, and the header in front of the acknowledgement.
  std::byte ack[kHeadroom];
  std::size_t ack_bytes = 0;
  if (echo_at_ != 0) ack_bytes = write_ack(now, ack, kHeadroomRanges);
  std::byte* front = bundle.frames() - ack_bytes - sizeof(PacketHeader);
  std::memcpy(front + sizeof(PacketHeader), ack, ack_bytes);
  PacketHeader header;
  header.number = number;
  header.attempt = attempt;
  header.flags = bundle.flags;
  append_packet(now, batch, header, front, ack_bytes + bundle.used, nullptr, 0);
}

// A send place becomes free when its packet is acknowledged, and the receiver delays acknowledgements. Without a
// request for an immediate one, a sender would send no more than `most` packets in each such delay.
bool Connection::requests_ack(std::size_t& since_request, std::size_t most) noexcept {
  if (++since_request < most / 2) return false;
  since_request = 0;
  return true;
}

// Bundles of equal length, as a series of equal messages makes them, leave in one system call.
bool Connection::fill_bundle(Time now, GsoBatch& batch) noexcept {
  const std::size_t burst = std::min(common_.burst, std::max(congestion_.quantum(), mtu_.size()));
  while ((!ready_.empty() || open_ != nullptr) && may_remember()) {
    Bundle* bundle = ready_.empty() ? open_ : ready_.front();
    // While there are gaps to report, acknowledgements differ in length, so bundles cannot share a batch.
    const std::size_t ack = echo_at_ != 0 ? sizeof(AckFrame) : 0;
    const std::size_t whole = sizeof(PacketHeader) + ack + bundle->used + trailer();
    const bool fits =
        !received_.gaps() && whole <= mtu_.size() && batch.segment() <= mtu_.size() &&
        batch.fits(whole, burst, std::min<std::size_t>(common_.most_batch_packets, kMostShortsInRow));
    const std::size_t bytes = kHeadroom + bundle->used + trailer();
    if ((!batch.empty() && !fits) || !may_send(now, bytes)) break;
    if (bundle == open_) {
      open_ = nullptr;
    } else {
      ready_.pop();
      --ready_count_;
    }
    if (requests_ack(bundles_since_request_, kMostBundles)) bundle->flags |= kImmediateAck;
    SentPacket sent = new_packet(now, SentPacket::Kind::bundle, bytes);
    sent.bundle = bundle;
    sent.immediate_ack = (bundle->flags & kImmediateAck) != 0;
    append_bundle(now, batch, *bundle, sent_packets_.add(sent), 0);
  }
  if (ready_.empty() && open_ == nullptr) shorts_waiting_ = 0;
  return !batch.empty();
}

std::size_t Connection::long_message_bytes(const LongMessage& long_message) const noexcept {
  return sizeof(PacketHeader) + sizeof(MessageFrame) + padded(long_message.bytes) + trailer();
}

void Connection::append_long_message(Time now, GsoBatch& batch, LongMessage& long_message,
                                     std::uint64_t number, const SentPacket& packet) noexcept {
  PacketHeader header;
  header.number = number;
  header.attempt = packet.attempt;
  header.flags = packet.immediate_ack ? kImmediateAck : 0;
  append_packet(now, batch, header, long_message.frames() - sizeof header, sizeof(MessageFrame) + kGuarded,
                long_message.message() + kGuarded, padded(long_message.bytes) - kGuarded);
}

void Connection::append_fragment(Time now, GsoBatch& batch, LongMessage& long_message, std::uint64_t number,
                                 const SentPacket& piece) noexcept {
  std::byte* front = batch.head();
  const FragmentFrame frame{
      .bytes = piece.bytes, .message = long_message.id, .total = long_message.bytes, .offset = piece.offset};
  std::memcpy(front + sizeof(PacketHeader), &frame, sizeof frame);
  PacketHeader header;
  header.number = number;
  header.attempt = piece.attempt;
  header.flags = piece.immediate_ack ? kImmediateAck : 0;
  append_packet(now, batch, header, front, sizeof frame, long_message.message() + piece.offset, piece.bytes);
}

bool Connection::fill_long_message(Time now, GsoBatch& batch) noexcept {
  const std::size_t burst = std::min(common_.burst, std::max(congestion_.quantum(), mtu_.size()));
  // One packet may leave whatever the window says. It must not exceed the peer's advertised window, because many
  // senders may send to that peer at once.
  const std::size_t longest =
      std::min<std::uint64_t>(mtu_.size(), std::max<std::uint64_t>(peer_window_, mtu_.base()));
  while (!long_messages_.empty() && may_remember()) {
    LongMessage& long_message = *long_messages_.front();
    const std::size_t bytes = long_message_bytes(long_message);
    if (long_message.next_offset != 0 || bytes > longest) break;
    if (!batch.fits(bytes, burst, common_.most_batch_packets) || !may_send(now, bytes)) return !batch.empty();
    long_messages_.pop();
    --long_messages_count_;
    long_message_bytes_waiting_ -= long_message.bytes;
    long_message.next_offset = long_message.bytes;
    long_message.unacknowledged = 1;
    SentPacket sent = new_packet(now, SentPacket::Kind::long_message, bytes);
    sent.long_message = &long_message;
    sent.immediate_ack = requests_ack(long_messages_since_request_, kMostLongMessages);
    append_long_message(now, batch, long_message, sent_packets_.add(sent), sent);
  }
  if (!batch.empty() || long_messages_.empty()) return !batch.empty();
  LongMessage& long_message = *long_messages_.front();
  const std::size_t head = sizeof(PacketHeader) + sizeof(FragmentFrame);
  const std::size_t most = (longest - head - trailer()) & ~std::size_t{7};
  while (long_message.next_offset < long_message.bytes && may_remember()) {
    const std::size_t bytes = std::min<std::size_t>(most, long_message.bytes - long_message.next_offset);
    const std::size_t whole = head + bytes + trailer();
    if (!batch.fits(whole, common_.burst, common_.most_batch_packets) || !may_send(now, whole)) break;
    SentPacket sent = new_packet(now, SentPacket::Kind::fragment, whole);
    sent.long_message = &long_message;
    sent.offset = long_message.next_offset;
    sent.bytes = static_cast<std::uint32_t>(bytes);
    long_message.next_offset += sent.bytes;
    ++long_message.unacknowledged;
    sent.immediate_ack = long_message.next_offset == long_message.bytes &&
                         requests_ack(long_messages_since_request_, kMostLongMessages);
    append_fragment(now, batch, long_message, sent_packets_.add(sent), sent);
  }
  if (long_message.next_offset == long_message.bytes) {
    long_messages_.pop();
    --long_messages_count_;
    long_message_bytes_waiting_ -= long_message.bytes;
  }
  return !batch.empty();
}

std::size_t Connection::bulk_head(const BulkTransfer& bulk) const noexcept {
  return sizeof(PacketHeader) + (bulk.reply ? sizeof(DataFrame) : sizeof(PutFrame)) + bulk.signal.bytes();
}

void Connection::append_bulk(Time now, GsoBatch& batch, BulkTransfer& bulk, std::uint64_t number,
                             const SentPacket& piece) noexcept {
  std::byte* front = batch.head();
  std::byte* at = front + sizeof(PacketHeader);
  if (bulk.reply) {
    const DataFrame frame{.flags = bulk.refused ? kRefused : kBulk,
                          .bytes = piece.bytes,
                          .transfer = bulk.id,
                          .offset = piece.offset};
    std::memcpy(at, &frame, sizeof frame);
  } else {
    const PutFrame frame{.flags = static_cast<std::uint8_t>(kBulk | bulk.signal.flags()),
                         .bytes = piece.bytes,
                         .segment = bulk.segment,
                         .transfer = bulk.id,
                         .offset = bulk.offset + piece.offset};
    std::memcpy(at, &frame, sizeof frame);
    bulk.signal.write_to(at + sizeof frame, bulk.bytes);
  }
  PacketHeader header;
  header.number = number;
  header.attempt = piece.attempt;
  header.flags = piece.immediate_ack ? kImmediateAck : 0;
  // Null after drop_replies: the peer has the bytes already, or is gone. Any bytes will do.
  const std::byte* from = bulk.from != nullptr ? bulk.from + piece.offset : batch.filler();
  append_packet(now, batch, header, front, bulk_head(bulk) - sizeof header, from, piece.bytes);
}

// A longer packet takes fewer system calls and less of the kernel: over loopback 1 MiB in packets of 64 KiB takes four fifths of
// the time. But several must be in flight, and a receiver may have little room for what each of its peers sends.
std::size_t Connection::longest_bulk() const noexcept {
  constexpr std::size_t kShort = 16'384;  // chosen
  constexpr std::uint64_t kInFlight = 4;  // chosen
  const std::uint64_t window = std::min<std::uint64_t>(congestion_.window(), peer_window_);
  return std::min(mtu_.size(), std::max<std::size_t>(kShort, window / kInFlight));
}

bool Connection::fill_bulk(Time now, GsoBatch& batch) noexcept {
  const std::size_t burst = std::min(common_.burst, std::max(congestion_.quantum(), mtu_.size()));
  while (!bulk_transfers_.empty() && may_remember()) {
    BulkTransfer& bulk = *bulk_transfers_.front();
    const std::size_t head = bulk_head(bulk) + trailer();
    const std::size_t most = (longest_bulk() - head) & ~std::size_t{7};
    const std::size_t bytes = std::min<std::size_t>(most, bulk.bytes - bulk.next_offset);
    if (!batch.fits(head + bytes, burst, common_.most_batch_packets) || !may_send(now, head + bytes)) break;
    SentPacket sent = new_packet(now, SentPacket::Kind::bulk, head + bytes);
    sent.bulk = &bulk;
    sent.offset = bulk.next_offset;
    sent.bytes = static_cast<std::uint32_t>(bytes);
    bulk.next_offset += sent.bytes;
    if (bulk.copy != nullptr) copied_bytes_waiting_ -= sent.bytes;
    sent.immediate_ack = !bulk.reply && !bulk.unhurried && bulk.next_offset == bulk.bytes;
    append_bulk(now, batch, bulk, sent_packets_.add(sent), sent);
    if (bulk.next_offset == bulk.bytes) bulk_transfers_.pop();
  }
  return !batch.empty();
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
