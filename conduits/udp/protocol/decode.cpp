#include "conduits/udp/protocol/decode.hpp"

#include "core/conduit.hpp"

#include <algorithm>
#include <type_traits>

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

bool FrameReader::cut_long(std::size_t bytes, std::span<const std::byte>& into) noexcept {
  if (bytes <= kGuarded || frames_.size() != kGuarded || data_.size() != padded(bytes) - kGuarded ||
      frames_.data() + kGuarded != data_.data())
    return false;
  into = {frames_.data(), bytes};
  frames_ = {};
  data_ = {};
  return true;
}

bool FrameReader::read(Ack& ack) noexcept {
  if (!cut(ack.frame) || ack.frame.ranges > kMostAckRanges) return false;
  for (std::size_t i = 0; i < ack.frame.ranges; ++i) {
    if (!cut(ack.ranges[i]) || ack.ranges[i].skip == 0 || ack.ranges[i].count == 0) return false;
  }
  return true;
}

bool FrameReader::read(Message& message) noexcept {
  MessageFrame frame;
  if (!cut(frame) || frame.bytes > kMostMessage) return false;
  return (frame.flags & kBulk) != 0 ? cut_long(frame.bytes, message.bytes)
                                    : cut_bytes(false, frame.bytes, message.bytes);
}

bool FrameReader::read(Fragment& fragment) noexcept {
  const FragmentFrame& frame = fragment.frame;
  return cut(fragment.frame) && frame.total <= kMostMessage && frame.offset <= frame.total &&
         frame.bytes <= frame.total - frame.offset && cut_bytes(true, frame.bytes, fragment.bytes);
}

bool FrameReader::read(Get& get) noexcept { return cut(get.frame) && get.frame.bytes != 0; }

bool FrameReader::read(Data& data) noexcept {
  const DataFrame& frame = data.frame;
  if (!cut(data.frame)) return false;
  if ((frame.flags & kRefused) != 0) return frame.flags == kRefused && frame.bytes == 0;
  return frame.bytes != 0 && cut_bytes((frame.flags & kBulk) != 0, frame.bytes, data.bytes);
}

bool FrameReader::read(Close&) noexcept {
  CloseFrame frame;
  return cut(frame);
}

bool FrameReader::read(Probe& probe) noexcept { return cut(probe.frame); }

bool FrameReader::read(Update& update) noexcept {
  if (!cut(update.frame)) return false;
  const detail::AtomicCall call = update.call();
  return core::AtomicSet::exists(call.op, call.type) && core::NativeUpdates::takes(call);
}

std::optional<Frame> FrameReader::next() noexcept {
  std::optional<Frame> frame;
  next([&](const auto& taken) noexcept { frame = taken; });
  return frame;
}

namespace {

/// Counts what frames need.
struct NeedsCounter {
  Needs& needs;

  void operator()(const Get&) const noexcept { ++needs.gets; }
  void operator()(const Message& message) const noexcept {
    ++needs.messages;
    needs.message_bytes += padded(message.bytes.size());
  }
  void operator()(const Fragment& fragment) const noexcept {
    ++needs.messages;  // it may be the last one
    needs.message_bytes += padded(fragment.frame.total);
    needs.in_pieces = true;
  }
  void operator()(const Put& put) const noexcept {
    const std::uint8_t flags = put.frame.flags;
    if ((flags & kSignal) == 0) return;
    needs.signals += (flags & kToWord) == 0 ? 1 : 0;
    needs.in_pieces = needs.in_pieces || put.signal.total != put.frame.bytes;
  }
  template <class Other>
  void operator()(const Other&) const noexcept {}
};

/// Whether a frame is about the connection itself. Such frames travel in packets of their own kinds; operations in data
/// packets, which are delivered exactly once and are checked for room first. Acknowledgements travel in both.
template <class Frame>
constexpr bool kOfTheConnection = std::is_same_v<Frame, Close> || std::is_same_v<Frame, Probe>;

}  // namespace

std::optional<Needs> needs_of(const Packet& packet) noexcept {
  const bool is_data = packet.header.kind == PacketKind::data;
  Needs needs;
  bool allowed = true;
  FrameReader reader(packet);
  const auto look = [&]<class F>(const F& frame) noexcept {
    if constexpr (!std::is_same_v<F, Ack>) allowed = allowed && kOfTheConnection<F> != is_data;
    NeedsCounter{needs}(frame);
  };
  while (allowed && reader.next(look)) {
  }
  // Only the length of a probe matters. Its data is padding that no frame refers to.
  const bool whole = packet.header.kind == PacketKind::probe ? packet.frames.empty() : reader.good();
  return allowed && whole ? std::optional(needs) : std::nullopt;
}

}  // namespace aqueduct::conduits::udp
