#include <aqueduct/copy_bytes.hpp>

#include "conduits/udp/protocol/connection.hpp"
#include "core/apply_atomic.hpp"
#include "core/word_signal.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace aqueduct::conduits::udp {
namespace {

// After this many received bytes the acknowledgement is not delayed any longer.
constexpr std::uint64_t kAckBytes = 64 * 1024;

bool known(PacketKind kind) noexcept { return kind <= PacketKind::probe_answer; }

/// Where the bytes of a put go if a redirect says so; else null.
std::byte* redirected(core::Redirect* redirect, const Put& put) noexcept {
  for (; redirect != nullptr; redirect = redirect->next) {
    if (std::byte* const place = redirect->place_of(put.frame.segment, put.frame.offset, put.bytes.size()))
      return place;
  }
  return nullptr;
}

}  // namespace

// Whether the packet comes from this peer in this job, is for this endpoint, and is undamaged.
bool Connection::authentic(Packet& packet, std::span<std::byte> datagram) noexcept {
  const PacketHeader& header = packet.header;
  if (header.from != peer_ || header.to != common_.me || !known(header.kind)) return false;
  switch (common_.security) {
    case Security::none: return header.tag == in_verification_tag_;
    case Security::header:
      std::memset(datagram.data() + offsetof(PacketHeader, tag), 0, sizeof header.tag);
      return header.tag == in_.tag(datagram.first(sizeof header + packet.frames.size()));
    case Security::full:
      return in_.decrypt(datagram.first(sizeof header),
                         datagram.subspan(sizeof header, packet.frames.size() + packet.data.size()),
                         packet.trailer.data(), header.number,
                         header.attempt | static_cast<std::uint32_t>(header.kind) << 16);
  }
  return false;
}

// Replay window for packets other than data. It spans 64 numbers: a late control packet is useless anyway.
bool Connection::replayed(std::uint64_t number) noexcept {
  if (number >= control_seen_) {
    const std::uint64_t step = number - control_seen_ + 1;
    control_bits_ = step >= 64 ? 1 : control_bits_ << step | 1;
    control_seen_ = number + 1;
    return false;
  }
  const std::uint64_t age = control_seen_ - 1 - number;
  if (age >= 64 || (control_bits_ >> age & 1) != 0) return true;
  control_bits_ |= std::uint64_t{1} << age;
  return false;
}

// Whether there is room for everything that the packet brings. Without room it does not count as arrived.
bool Connection::has_room(const Packet& packet, const Needs& needs) noexcept {
  if (needs.in_pieces && !has_room_for_pieces(packet)) return false;
  if (needs.gets != 0) {
    if (bulk_transfers_used_ + needs.gets > 2 * kMostGets) return false;
    if (!common_.bulk_transfers.ready(needs.gets)) {
      note_shortage(common_.bulk_transfers);
      return false;
    }
  }
  if (common_.upper.ready(needs.messages, needs.message_bytes, needs.signals)) [[likely]]
    return true;
  shortage_.note();
  return false;
}

// Only the first piece of a message, or of a put with a signal, takes room. Otherwise those that have begun could not finish.
bool Connection::has_room_for_pieces(const Packet& packet) noexcept {
  FrameReader reader(packet);
  while (const auto frame = reader.next()) {
    if (const auto* fragment = std::get_if<Fragment>(&*frame)) {
      const bool begun = std::any_of(reassemblies_.begin(), reassemblies_.end(), [&](const Reassembly& one) {
        return one.id == fragment->frame.message;
      });
      if (!begun && reassemblies_.size() >= kMostLongMessages) return false;
      if (!begun && !common_.long_messages.ready(1)) {
        note_shortage(common_.long_messages);
        return false;
      }
    }
    if (const auto* put = std::get_if<Put>(&*frame)) {
      if ((put->frame.flags & kSignal) == 0 || put->signal.total == put->frame.bytes) continue;
      const bool begun = std::any_of(partial_puts_.begin(), partial_puts_.end(),
                                     [&](const PartialPut& one) { return one.id == put->frame.transfer; });
      if (!begun && partial_puts_.size() >= kMostBulkTransfers) return false;
    }
  }
  return true;
}

// A packet that has arrived before proves nothing: anybody may have recorded it. A living peer whose packets are all duplicates,
// because it hears nothing, soon sends a ping.
void Connection::heard(Time now) noexcept {
  if (quiet(now) && suspected())
    suspect_black_hole_since(now);  // long packets that were lost in an outage prove nothing
  heard_at_ = now;
}

Connection::Verdict Connection::receive(Time now, Packet& packet, std::span<std::byte> datagram) noexcept {
  if (ended_) return Verdict::taken;
  const std::optional<Needs> needs = authentic(packet, datagram) ? needs_of(packet) : std::nullopt;
  if (!needs) {
    ++counters_.rejected;
    return Verdict::rejected;
  }
  const PacketHeader& header = packet.header;
  ++counters_.received;
  counters_.received_bytes += datagram.size();
  if (header.kind != PacketKind::data) {
    if (replayed(header.number)) {
      ++counters_.duplicate;
      return Verdict::taken;
    }
    heard(now);
    if (header.kind == PacketKind::probe) answer_probe_ = datagram.size();
    if (header.kind == PacketKind::ping) {
      echo_ = header.stamp;
      echo_at_ = now;
      want_ack(now);
    }
    return apply(now, packet, true);
  }
  const auto verdict = received_.check(header.number);
  if (verdict != ReceivedPackets::Verdict::duplicate) heard(now);
  if (verdict == ReceivedPackets::Verdict::beyond ||
      (verdict == ReceivedPackets::Verdict::fresh && !has_room(packet, *needs))) {
    return Verdict::taken;  // counts as lost: not acknowledged
  }
  if (verdict == ReceivedPackets::Verdict::duplicate) {
    ++counters_.duplicate;
    want_ack(now);  // it was retransmitted because our acknowledgement is missing
    return apply(now, packet, false);
  }
  if (header.number < received_.end()) ++counters_.out_of_order;
  const bool gap_before = received_.gaps();
  received_.note(header.number);
  echo_ = header.stamp;
  echo_at_ = now;
  unacknowledged_ += datagram.size();
  const bool at_once = (header.flags & kImmediateAck) != 0 || gap_before || received_.gaps() ||
                       unacknowledged_ >= std::min<std::uint64_t>(kAckBytes, common_.window / 4);
  want_ack(at_once ? now : now + common_.ack_delay);
  return apply(now, packet, true);
}

Connection::Verdict Connection::apply(Time now, const Packet& packet, bool fresh) noexcept {
  if (packet.header.kind == PacketKind::probe) return Verdict::taken;
  FrameReader reader(packet);
  bool good = true;
  bool closed = false;
  const auto carry_out = [&]<class F>(const F& frame) noexcept {
    if constexpr (std::is_same_v<F, Ack>) {
      apply(now, frame);
    } else if constexpr (std::is_same_v<F, Probe>) {
      if (fresh) mtu_.probe_arrived(now, frame.frame.bytes);
    } else if constexpr (std::is_same_v<F, Close>) {
      closed = closed || fresh;
    } else if (fresh) {
      good = apply(frame) && good;
    }
  };
  while (reader.next(carry_out)) {
    if (ended_) return Verdict::taken;
  }
  if (!good) ++counters_.rejected;  // it refers to memory outside any segment
  return closed ? Verdict::closed : Verdict::taken;
}

bool Connection::apply(const Message& message) noexcept {
  common_.upper.message(peer_, message.bytes);
  return true;
}

bool Connection::apply(const Fragment& fragment) noexcept {
  const FragmentFrame& frame = fragment.frame;
  auto found = std::find_if(reassemblies_.begin(), reassemblies_.end(),
                            [&](const Reassembly& one) { return one.id == frame.message; });
  if (found == reassemblies_.end()) {
    LongMessage* long_message = common_.long_messages.take();
    if (long_message == nullptr) return false;  // cannot happen: has_room has checked
    long_message->bytes = frame.total;
    reassemblies_.push_back({frame.message, 0, long_message});
    found = reassemblies_.end() - 1;
  }
  LongMessage* long_message = found->long_message;
  if (frame.total != long_message->bytes) return true;
  std::memcpy(long_message->message() + frame.offset, fragment.bytes.data(), fragment.bytes.size());
  found->arrived += frame.bytes;
  if (found->arrived < long_message->bytes) return true;
  reassemblies_.erase(found);
  common_.upper.message(peer_, {long_message->message(), long_message->bytes});
  common_.long_messages.give(long_message);
  return true;
}

void Connection::refuse(const char* call, std::uint32_t segment, std::uint64_t offset,
                        std::size_t bytes) noexcept {
  if (!std::exchange(refused_, true)) common_.upper.refused(peer_, call, segment, offset, bytes);
}

bool Connection::apply(const Put& put) noexcept {
  const PutFrame& frame = put.frame;
  bool good = true;
  if (!put.bytes.empty()) {
    const core::MutableBytes segment = common_.upper.segment(frame.segment);
    good = frame.offset <= segment.size() && put.bytes.size() <= segment.size() - frame.offset;
    if (good) {
      std::byte* to = common_.redirects != nullptr ? redirected(common_.redirects, put) : nullptr;
      if (to == nullptr) to = segment.data() + frame.offset;
      detail::copy_bytes(to, put.bytes.data(), put.bytes.size());
    } else {
      refuse("put", frame.segment, frame.offset, put.bytes.size());
    }
  }
  if ((frame.flags & kSignal) == 0) return good;
  const Announcement signal = Announcement::of(frame.flags, put.signal, put.word);
  if (put.signal.total == frame.bytes) return good && carry_out(signal);
  auto found = std::find_if(partial_puts_.begin(), partial_puts_.end(),
                            [&](const PartialPut& one) { return one.id == frame.transfer; });
  if (found == partial_puts_.end()) {
    partial_puts_.push_back({frame.transfer, put.signal.total, signal, true});
    found = partial_puts_.end() - 1;
  }
  found->good = found->good && good;
  found->missing -= std::min(found->missing, frame.bytes);
  if (found->missing != 0) return good;
  const bool all_good = found->good;
  partial_puts_.erase(found);
  if (all_good && !carry_out(signal)) return false;
  return good;
}

/// Carries out the signal of a put whose bytes are in place. False: it names no word.
bool Connection::carry_out(const Announcement& signal) noexcept {
  if (signal.kind == Announcement::Kind::slot) {
    common_.upper.signalled(peer_, Signal{signal.where, signal.value});
    return true;
  }
  const core::MutableBytes segment = common_.upper.segment(signal.where);
  if (core::apply_signal(segment, signal.offset, signal.op, signal.value) == ErrorCode::ok) return true;
  refuse("signal", signal.where, signal.offset, sizeof(std::uint64_t));
  return false;
}

bool Connection::apply(const Get& get) noexcept {
  const GetFrame& frame = get.frame;
  const core::MutableBytes segment = common_.upper.segment(frame.segment);
  BulkTransfer reply;
  reply.reply = true;
  reply.id = frame.transfer;
  reply.segment = frame.segment;
  if (frame.offset > segment.size() || frame.bytes > segment.size() - frame.offset) {
    refuse("get", frame.segment, frame.offset, frame.bytes);
    reply.refused = true;  // the peer must not wait for ever
    queue_bulk(reply);
    return false;
  }
  const std::byte* from = segment.data() + frame.offset;
  if (frame.bytes <= kMostInline && sizeof(DataFrame) + padded(frame.bytes) <= bundle_room()) {
    if (std::byte* at = room(sizeof(DataFrame) + padded(frame.bytes), false)) {
      const DataFrame data{.bytes = frame.bytes, .transfer = frame.transfer};
      std::memcpy(at, &data, sizeof data);
      detail::copy_bytes(at + sizeof data, from, frame.bytes);
      std::memset(at + sizeof data + frame.bytes, 0, padded(frame.bytes) - frame.bytes);
      return true;
    }
  }
  reply.from = from;
  reply.bytes = frame.bytes;
  if (detail::copy_word(&reply.word, from, frame.bytes)) reply.from = nullptr;
  return queue_bulk(reply);
}

bool Connection::apply(const Data& data) noexcept {
  const DataFrame& frame = data.frame;
  if (frame.transfer >= gets_.size()) return false;
  PendingGet& pending = gets_[frame.transfer];
  if (pending.to == nullptr || frame.offset > pending.bytes || frame.bytes > pending.bytes - frame.offset)
    return false;
  const bool refused = (frame.flags & kRefused) != 0;
  if (!refused) detail::copy_bytes(pending.to + frame.offset, data.bytes.data(), data.bytes.size());
  pending.arrived += frame.bytes;
  if (pending.arrived < pending.bytes && !refused) return true;
  pending.to = nullptr;
  pending.next_free = free_get_;
  free_get_ = frame.transfer + 1;
  --gets_used_;
  common_.upper.completed(pending.token, refused ? Status{ErrorCode::out_of_range, peer_} : Status{});
  return true;
}

bool Connection::apply(const Update& update) noexcept {
  const detail::AtomicCall call = update.call();
  const std::size_t bytes = core::bytes_of(call.type);
  const std::uint64_t offset = update.frame.offset;
  const core::MutableBytes segment = common_.upper.segment(update.frame.segment);
  const bool inside = offset <= segment.size() && bytes <= segment.size() - offset;
  std::byte* const at = inside ? segment.data() + offset : nullptr;
  if (at == nullptr || reinterpret_cast<std::uintptr_t>(at) % bytes != 0) {
    refuse("word's atomic", update.frame.segment, offset, bytes);
    return false;
  }
  core::apply_atomic(call.op, call.type, call.operand, 0, at);
  return true;
}

// ------------------------------------------------------------------------------------------ acknowledgements

void Connection::acknowledged(SentPacket& sent) noexcept {
  switch (sent.kind) {
    case SentPacket::Kind::bundle:
      for (std::size_t i = 0; i < sent.bundle->tokens; ++i)
        common_.upper.completed(sent.bundle->token[i], {});
      common_.bundles.give(sent.bundle);
      --bundles_used_;
      break;
    case SentPacket::Kind::long_message:
    case SentPacket::Kind::fragment:
      if (--sent.long_message->unacknowledged == 0 &&
          sent.long_message->next_offset == sent.long_message->bytes) {
        give_buffer(*sent.long_message);
      }
      break;
    case SentPacket::Kind::bulk:
      sent.bulk->acknowledged += sent.bytes;
      if (sent.bulk->acknowledged == sent.bulk->bytes) {
        --bulk_transfers_used_;
        if (sent.bulk->reply) {
          --replies_;
        } else {
          common_.upper.completed(sent.bulk->token, {});
        }
        if (sent.bulk->copy != nullptr) give_buffer(*sent.bulk->copy);
        common_.bulk_transfers.give(sent.bulk);
      }
      break;
  }
}

void Connection::delivered(Time now, std::uint64_t number, std::uint32_t echo) noexcept {
  if (!sent_packets_.arrived(number, echo)) return;
  SentPacket& sent = sent_packets_.at(number);
  if (sent.wire_bytes > mtu_.base()) {
    black_hole_since_ = kNever;
    if (sent.attempt < kSuspectAttempts)
      large_retransmissions_ = 0;  // after that it may have arrived in IP fragments
  } else if (suspected() && sent.sent_at >= black_hole_since_) {
    ++shorts_arrived_;
  }
  congestion_.acknowledged(now, sent.wire_bytes, sent.sent_at, sent.snapshot);
  acknowledged(sent);
}

void Connection::apply(Time now, const Ack& ack) noexcept {
  const AckFrame& frame = ack.frame;
  if (frame.next > sent_packets_.next()) return;  // acknowledges packets that were never sent
  peer_window_ = frame.window;
  if (short_ping_stamp_ == frame.echo) {
    short_ping_stamp_.reset();
    ++shorts_arrived_;
  }
  const std::uint32_t before = sent_packets_.packets_in_flight() + sent_packets_.lost();
  for (std::uint64_t n = sent_packets_.oldest(); n < frame.next; ++n) delivered(now, n, frame.echo);
  std::uint64_t end = frame.next;
  for (std::size_t i = 0; i < frame.ranges; ++i) {
    const std::uint64_t first = end + ack.ranges[i].skip;
    end = std::min(first + ack.ranges[i].count, sent_packets_.next());
    for (std::uint64_t n = std::max(first, sent_packets_.oldest()); n < end; ++n)
      delivered(now, n, frame.echo);
  }
  if (ended_) return;  // a completion may have ended the connection
  const std::uint32_t after = sent_packets_.packets_in_flight() + sent_packets_.lost();
  // The difference is not positive for an older acknowledgement that arrives late.
  if (static_cast<std::int32_t>(frame.duplicates - peer_duplicates_) >
      0) {  // a retransmission was unnecessary: tolerate more reordering
    peer_duplicates_ = frame.duplicates;
    if (reordering_ > 1) --reordering_;
  }
  if (before == after) return;
  sent_packets_.trim();
  Time sample = 0;
  if (frame.delay != UINT16_MAX) {
    const auto age = static_cast<std::uint32_t>(static_cast<std::uint32_t>(now >> kStampShift) - frame.echo);
    sample = std::max<Time>((Time{age} - frame.delay) << kStampShift, Time{1} << kStampShift);
    if (sample < 60 * kSecond) {
      rtt_.sample(sample, now);
    } else {
      sample = 0;
    }
  }
  rtt_.recovered();
  expiries_ = 0;
  tail_probe_due_ = false;
  std::uint64_t lost = 0;
  recheck_ = kNever;
  if (frame.ranges != 0) {
    lost = sent_packets_.find_lost(now, rtt_.smoothed(),
                                   std::max(rtt_.least() / reordering_, kLeastReordering), recheck_);
  }
  congestion_.acknowledged_round(now, sample, rtt_.least(), sent_packets_.bytes_in_flight(), lost);
}

}  // namespace aqueduct::conduits::udp
