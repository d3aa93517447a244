// Packets without data: acknowledgements, pings, probes, the close packet.

#include "conduits/udp/protocol/connection.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::udp {

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

}  // namespace aqueduct::conduits::udp
