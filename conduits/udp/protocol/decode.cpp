#include "conduits/udp/protocol/decode.hpp"

#include <algorithm>

namespace aqueduct::conduits::udp {

std::optional<Packet> parse_packet(std::span<std::byte> datagram, std::size_t trailer) noexcept {
  Packet packet;
  if (datagram.size() < sizeof(PacketHeader)) return std::nullopt;
  std::memcpy(&packet.header, datagram.data(), sizeof(PacketHeader));
  const PacketHeader& header = packet.header;
  if (header.magic != kMagic || header.version != kWireVersion || header.frames % 8 != 0) return std::nullopt;
  const std::size_t rest = datagram.size() - sizeof(PacketHeader);
  if (rest != std::size_t{header.frames} + header.data + trailer) return std::nullopt;
  packet.frames = datagram.subspan(sizeof(PacketHeader), header.frames);
  packet.data = datagram.subspan(sizeof(PacketHeader) + header.frames, header.data);
  packet.trailer = datagram.last(trailer);
  return packet;
}

std::size_t packet_bytes(std::span<const std::byte> datagrams, std::size_t trailer) noexcept {
  PacketHeader header;
  if (datagrams.size() < sizeof header) return datagrams.size();
  std::memcpy(&header, datagrams.data(), sizeof header);
  const std::size_t bytes = sizeof header + header.frames + header.data + trailer;
  return header.magic == kMagic ? std::min(bytes, datagrams.size()) : datagrams.size();
}

template <class T>
bool FrameReader::take(T& into) noexcept {
  if (frames_.size() < sizeof(T)) return false;
  std::memcpy(&into, frames_.data(), sizeof(T));
  frames_ = frames_.subspan(sizeof(T));
  return true;
}

bool FrameReader::take_bytes(bool bulk, std::size_t bytes, std::span<const std::byte>& into) noexcept {
  if (bulk) {  // must be all of it: a packet has one block of bulk data, and only its last frame may refer to it
    if (bytes != data_.size() || bytes == 0 || !frames_.empty()) return false;
    into = data_;
    data_ = {};
    return true;
  }
  if (frames_.size() < padded(bytes)) return false;
  into = frames_.first(bytes);
  frames_ = frames_.subspan(padded(bytes));
  return true;
}

bool FrameReader::take_long(std::size_t bytes, std::span<const std::byte>& into) noexcept {
  if (bytes <= kGuarded || frames_.size() != kGuarded || data_.size() != padded(bytes) - kGuarded ||
      frames_.data() + kGuarded != data_.data())
    return false;
  into = {frames_.data(), bytes};
  frames_ = {};
  data_ = {};
  return true;
}

std::optional<Frame> FrameReader::bad() noexcept {
  good_ = false;
  return std::nullopt;
}

std::optional<Frame> FrameReader::next() noexcept {
  if (frames_.empty() || !good_) return std::nullopt;
  switch (static_cast<FrameKind>(frames_.front())) {
    case FrameKind::ack: {
      Ack ack;
      if (!take(ack.frame) || ack.frame.ranges > kMostAckRanges) return bad();
      for (std::size_t i = 0; i < ack.frame.ranges; ++i) {
        if (!take(ack.ranges[i]) || ack.ranges[i].skip == 0 || ack.ranges[i].count == 0) return bad();
      }
      return ack;
    }
    case FrameKind::message: {
      MessageFrame frame;
      Message message;
      if (!take(frame) || frame.bytes > kMostMessage) return bad();
      const bool read = (frame.flags & kBulk) != 0 ? take_long(frame.bytes, message.bytes)
                                                   : take_bytes(false, frame.bytes, message.bytes);
      if (!read) return bad();
      return message;
    }
    case FrameKind::fragment: {
      Fragment fragment;
      if (!take(fragment.frame)) return bad();
      const FragmentFrame& frame = fragment.frame;
      if (frame.total > kMostMessage || frame.offset > frame.total ||
          frame.bytes > frame.total - frame.offset)
        return bad();
      if (!take_bytes(true, frame.bytes, fragment.bytes)) return bad();
      return fragment;
    }
    case FrameKind::put: {
      Put put;
      if (!take(put.frame)) return bad();
      if ((put.frame.flags & kSignal) != 0 && (!take(put.signal) || put.frame.bytes > put.signal.total))
        return bad();
      if ((put.frame.flags & kToWord) != 0 && ((put.frame.flags & kSignal) == 0 || !take(put.word)))
        return bad();
      if (!take_bytes((put.frame.flags & kBulk) != 0, put.frame.bytes, put.bytes)) return bad();
      return put;
    }
    case FrameKind::get: {
      Get get;
      if (!take(get.frame) || get.frame.bytes == 0) return bad();
      return get;
    }
    case FrameKind::data: {
      Data data;
      if (!take(data.frame)) return bad();
      if ((data.frame.flags & kRefused) != 0) {
        if (data.frame.flags != kRefused || data.frame.bytes != 0) return bad();
        return data;
      }
      if (data.frame.bytes == 0) return bad();
      if (!take_bytes((data.frame.flags & kBulk) != 0, data.frame.bytes, data.bytes)) return bad();
      return data;
    }
    case FrameKind::close: {
      CloseFrame frame;
      if (!take(frame)) return bad();
      return Close{};
    }
    case FrameKind::probe: {
      Probe probe;
      if (!take(probe.frame)) return bad();
      return probe;
    }
  }
  return bad();
}

namespace {

// Operations travel in data packets, which are delivered exactly once and are checked for room first. Frames about the
// connection itself travel in the other kinds. Acknowledgements travel in both.
bool may_carry(PacketKind kind, const Frame& frame) noexcept {
  if (std::holds_alternative<Ack>(frame)) return true;
  const bool of_the_connection = std::holds_alternative<Close>(frame) || std::holds_alternative<Probe>(frame);
  return of_the_connection == (kind != PacketKind::data);
}

}  // namespace

bool well_formed(const Packet& packet) noexcept {
  FrameReader reader(packet);
  while (const auto frame = reader.next()) {
    if (!may_carry(packet.header.kind, *frame)) return false;
  }
  // Only the length of a probe matters. Its data is padding that no frame refers to.
  return packet.header.kind == PacketKind::probe ? packet.frames.empty() : reader.good();
}

}  // namespace aqueduct::conduits::udp
