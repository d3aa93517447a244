#include "conduits/udp/protocol/connection.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace aqueduct::conduits::udp {
namespace {

template <class T>
std::byte* write(std::byte* at, const T& what) noexcept {
  std::memcpy(at, &what, sizeof what);
  return at + sizeof what;
}

std::byte* write_bytes(std::byte* at, core::Bytes bytes) noexcept {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

void write_padded(std::byte* at, core::Bytes bytes) noexcept {
  std::memset(write_bytes(at, bytes), 0, padded(bytes.size()) - bytes.size());
}

}  // namespace

void Connection::close_bundle() noexcept {
  if (open_ == nullptr) return;
  ready_.push(open_);
  ++ready_count_;
  open_ = nullptr;
}

// Room for `bytes` more of frames in a bundle, and for a token that its acknowledgement completes if `with_token`.
// Null: no room. Requires: `bytes` are at most bundle_room().
std::byte* Connection::room(std::size_t bytes, bool with_token) noexcept {
  if (ended_) return nullptr;
  if (open_ != nullptr &&
      (open_->used + bytes > bundle_room() || (with_token && open_->tokens == Bundle::kMostTokens))) {
    close_bundle();
  }
  if (open_ == nullptr) {
    if (bundles_used_ >= kMostBundles) return nullptr;
    open_ = common_.bundles.take();
    if (open_ == nullptr) {
      note_shortage(common_.bundles);
      return nullptr;
    }
    open_->used = open_->tokens = 0;
    open_->flags = 0;
    ++bundles_used_;
  }
  ++shorts_waiting_;
  std::byte* at = open_->frames() + open_->used;
  open_->used = static_cast<std::uint16_t>(open_->used + bytes);
  return at;
}

/// A buffer for a long message or a put's copy. Null: no room.
LongMessage* Connection::take_buffer(std::uint32_t bytes) noexcept {
  if (long_messages_used_ >= kMostLongMessages || long_message_bytes_used_ + bytes > kMostLongMessageBytes)
    return nullptr;
  // Half of the endpoint's pool is kept for messages that arrive.
  if (common_.long_messages.in_use() >= Common::kMostLongMessages / 2) return nullptr;
  LongMessage* const buffer = common_.long_messages.take();
  if (buffer == nullptr) {
    note_shortage(common_.long_messages);
    return nullptr;
  }
  ++long_messages_used_;
  long_message_bytes_used_ += bytes;
  buffer->bytes = bytes;
  return buffer;
}

void Connection::give_buffer(LongMessage& buffer) noexcept {
  long_message_bytes_used_ -= buffer.bytes;
  common_.long_messages.give(&buffer);
  --long_messages_used_;
}

core::Post Connection::send(core::Bytes header, core::Bytes payload) noexcept {
  if (ended_) return core::Post::failed(ErrorCode::peer_lost);
  const std::size_t bytes = header.size() + payload.size();
  const MessageFrame frame{.bytes = static_cast<std::uint32_t>(bytes)};
  if (sizeof frame + padded(bytes) <= std::min(kMostInline + core::kMostHeader, bundle_room())) {
    std::byte* at = room(sizeof frame + padded(bytes), false);
    if (at == nullptr) return core::Post::retry();
    at = write(at, frame);
    write_padded(write_bytes(at, header), payload);  // headers are multiples of 8
    return core::Post::done();
  }
  LongMessage* const long_message = take_buffer(frame.bytes);
  if (long_message == nullptr) return core::Post::retry();
  close_bundle();  // earlier messages leave first
  long_message->next_offset = long_message->unacknowledged = 0;
  long_message->id = next_id_++;
  static_assert(kLeastPacket - kHeadroom - Seal::kTrailer - sizeof frame >= kGuarded,
                "a long message has kGuarded bytes");
  write(long_message->frames(), MessageFrame{.flags = kBulk, .bytes = frame.bytes});
  write_padded(write_bytes(long_message->message(), header), payload);
  long_messages_.push(long_message);
  ++long_messages_count_;
  long_message_bytes_waiting_ += bytes;
  return core::Post::done();
}

bool Connection::queue_bulk(const BulkTransfer& what) noexcept {
  BulkTransfer* bulk = common_.bulk_transfers.take();
  if (bulk == nullptr) {
    note_shortage(common_.bulk_transfers);
    return false;
  }
  BulkTransfer* const next = bulk->next;
  *bulk = what;
  bulk->next = next;
  if (what.from == nullptr) bulk->from = reinterpret_cast<const std::byte*>(&bulk->word);
  ++bulk_transfers_used_;
  if (what.copy != nullptr) copied_bytes_waiting_ += what.bytes;
  if (what.reply) ++replies_;
  bulk_transfers_.push(bulk);
  return true;
}

core::Post Connection::put(std::uint32_t segment, std::uint64_t offset, core::Bytes from,
                           const Signal* signal, core::Token token, Source source, Answer answer) noexcept {
  return put_announced(segment, offset, from, signal != nullptr ? Announcement::of(*signal) : Announcement{},
                       token, source, answer);
}

core::Post Connection::put_announced(std::uint32_t segment, std::uint64_t offset, core::Bytes from,
                                     const Announcement& signal, core::Token token, Source source,
                                     Answer answer) noexcept {
  if (ended_) return core::Post::failed(ErrorCode::peer_lost);
  const auto bytes = static_cast<std::uint32_t>(from.size());
  const std::size_t head = sizeof(PutFrame) + signal.bytes();
  if (bytes <= kMostInline && head + padded(bytes) <= bundle_room()) {
    std::byte* at = room(head + padded(bytes), true);
    if (at == nullptr) return core::Post::retry();
    PutFrame frame{.bytes = bytes, .segment = segment, .offset = offset};
    if (signal.kind != Announcement::Kind::nothing) {
      frame.flags = signal.flags();
      frame.transfer = next_id_++;
    }
    at = signal.write_to(write(at, frame), bytes);
    write_padded(at, from);
    open_->token[open_->tokens++] = token;
    if (answer == Answer::soon) open_->flags |= kImmediateAck;
    return core::Post::posted();
  }
  if (bulk_transfers_used_ >= kMostBulkTransfers) return core::Post::retry();
  BulkTransfer bulk;
  bulk.token = token;
  bulk.from = from.data();
  if (source == Source::copied) {
    if (!common_.bulk_transfers.ready(1)) {
      note_shortage(common_.bulk_transfers);
      return core::Post::retry();
    }
    // Messages have the other quarter of the pool: a put to many peers leaves them room.
    if (common_.long_messages.in_use() >= Common::kMostLongMessages / 4) return core::Post::retry();
    bulk.copy = take_buffer(bytes);
    if (bulk.copy == nullptr) return core::Post::retry();
    std::memcpy(bulk.copy->message(), from.data(), bytes);
    bulk.from = bulk.copy->message();
  }
  bulk.bytes = bytes;
  bulk.segment = segment;
  bulk.offset = offset;
  bulk.signal = signal;
  bulk.id = next_id_++;
  bulk.unhurried = answer == Answer::any_time;
  return queue_bulk(bulk) ? core::Post::posted() : core::Post::retry();
}

// Doubles the table. Requires: fewer than kMostGets are in use.
bool Connection::grow_gets() noexcept try {
  const auto first = static_cast<std::uint32_t>(gets_.size());
  gets_.resize(first == 0 ? 16 : std::size_t{first} * 2);
  for (auto i = static_cast<std::uint32_t>(gets_.size()); i-- > first;) {
    gets_[i].next_free = free_get_;
    free_get_ = i + 1;
  }
  return true;
} catch (const std::bad_alloc&) {
  shortage_.note();
  return false;
}

core::Post Connection::get(std::uint32_t segment, std::uint64_t offset, core::MutableBytes to,
                           core::Token token) noexcept {
  if (ended_) return core::Post::failed(ErrorCode::peer_lost);
  if (gets_used_ >= kMostGets) return core::Post::retry();
  if (free_get_ == 0 && !grow_gets()) return core::Post::retry();
  std::byte* at = room(sizeof(GetFrame), false);
  if (at == nullptr) return core::Post::retry();
  const std::uint32_t index = free_get_ - 1;
  PendingGet& pending = gets_[index];
  free_get_ = pending.next_free;
  ++gets_used_;
  pending.token = token;
  pending.to = to.data();
  pending.bytes = static_cast<std::uint32_t>(to.size());
  pending.arrived = 0;
  write(at, GetFrame{.bytes = pending.bytes, .segment = segment, .transfer = index, .offset = offset});
  return core::Post::posted();
}

core::Post Connection::update(std::uint32_t segment, std::uint64_t offset, const detail::AtomicCall& call,
                              core::Token token) noexcept {
  if (ended_) return core::Post::failed(ErrorCode::peer_lost);
  std::byte* at = room(sizeof(UpdateFrame), true);
  if (at == nullptr) return core::Post::retry();
  write(at, UpdateFrame{.op = static_cast<std::uint8_t>(call.op),
                        .type = static_cast<std::uint8_t>(call.type),
                        .segment = segment,
                        .offset = offset,
                        .operand = call.operand});
  open_->token[open_->tokens++] = token;
  open_->flags |= kImmediateAck;
  return core::Post::posted();
}

/// Calls `each` for the replies to gets that read a segment: those to be sent and those not acknowledged yet. A reply that
/// is both comes several times.
template <class F>
void Connection::for_each_reply(SegmentId segment, const F& each) noexcept {
  const auto look = [&](BulkTransfer* bulk) {
    if (bulk->reply && bulk->segment == segment) each(*bulk);
  };
  for (BulkTransfer* bulk = bulk_transfers_.front(); bulk != nullptr; bulk = bulk->next) look(bulk);
  for (std::uint64_t n = sent_packets_.oldest(); n < sent_packets_.next(); ++n) {
    const SentPacket& sent = sent_packets_.at(n);
    if (sent.state != SentPacket::State::acknowledged && sent.kind == SentPacket::Kind::bulk) look(sent.bulk);
  }
}

bool Connection::reads(SegmentId segment) noexcept {
  if (replies_ == 0) return false;
  bool any = false;
  for_each_reply(segment, [&](const BulkTransfer&) { any = true; });
  return any;
}

void Connection::drop_replies(SegmentId segment) noexcept {
  for_each_reply(segment, [](BulkTransfer& bulk) { bulk.from = nullptr; });
}

void Connection::fail(Status status) noexcept {
  if (ended_) return;
  ended_ = true;
  const auto end_bundle = [&](Bundle* bundle) {
    for (std::size_t i = 0; i < bundle->tokens; ++i) common_.upper.completed(bundle->token[i], status);
    common_.bundles.give(bundle);
  };
  const auto end_bulk = [&](BulkTransfer* bulk) {
    if (!bulk->reply) common_.upper.completed(bulk->token, status);
    if (bulk->copy != nullptr) common_.long_messages.give(bulk->copy);
    common_.bulk_transfers.give(bulk);
  };
  // Several packets may refer to one bulk transfer or long message. The last of them releases it.
  for (std::uint64_t n = sent_packets_.oldest(); n < sent_packets_.next(); ++n) {
    SentPacket& sent = sent_packets_.at(n);
    if (sent.state == SentPacket::State::acknowledged) continue;
    if (sent.kind == SentPacket::Kind::bundle) end_bundle(sent.bundle);
    if (sent.kind == SentPacket::Kind::long_message) common_.long_messages.give(sent.long_message);
    if (sent.kind == SentPacket::Kind::fragment && --sent.long_message->unacknowledged == 0 &&
        sent.long_message->next_offset == sent.long_message->bytes) {
      common_.long_messages.give(sent.long_message);
    }
    if (sent.kind == SentPacket::Kind::bulk) {
      sent.bulk->acknowledged += sent.bytes;
      if (sent.bulk->acknowledged == sent.bulk->bytes) end_bulk(sent.bulk);
    }
  }
  sent_packets_ = SentPackets{};
  close_bundle();
  while (!ready_.empty()) end_bundle(ready_.pop());
  ready_count_ = shorts_waiting_ = 0;
  while (!long_messages_.empty()) common_.long_messages.give(long_messages_.pop());
  long_messages_count_ = long_message_bytes_waiting_ = 0;
  while (!bulk_transfers_.empty()) end_bulk(bulk_transfers_.pop());
  bundles_used_ = long_messages_used_ = long_message_bytes_used_ = bulk_transfers_used_ = replies_ = 0;
  copied_bytes_waiting_ = 0;
  for (PendingGet& pending : gets_) {
    if (pending.to == nullptr) continue;
    pending.to = nullptr;
    common_.upper.completed(pending.token, status);
  }
  for (const Reassembly& reassembly : reassemblies_) common_.long_messages.give(reassembly.long_message);
  reassemblies_.clear();
  partial_puts_.clear();
  ack_at_ = recheck_ = kNever;
}

}  // namespace aqueduct::conduits::udp
