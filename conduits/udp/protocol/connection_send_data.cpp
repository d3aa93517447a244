// Packets of data: bundles of short messages, long messages whole or in fragments, pieces of puts and of replies to gets.

#include "conduits/udp/protocol/connection.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::udp {

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

// One packet may leave whatever the window says. It must not exceed the peer's advertised window, because many
// senders may send to that peer at once.
std::size_t Connection::longest_packet() const noexcept {
  return std::min<std::uint64_t>(mtu_.size(), std::max<std::uint64_t>(peer_window_, mtu_.base()));
}

bool Connection::fill_long_message(Time now, GsoBatch& batch) noexcept {
  const std::size_t burst = std::min(common_.burst, std::max(congestion_.quantum(), mtu_.size()));
  const std::size_t longest = longest_packet();
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
  return std::min(longest_packet(), std::max<std::size_t>(kShort, window / kInFlight));
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

}  // namespace aqueduct::conduits::udp
