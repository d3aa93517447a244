#pragma once

#include "conduits/udp/protocol/wire.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <variant>

namespace aqueduct::conduits::udp {

/// The parts of a datagram. They refer to its memory.
struct Packet {
  PacketHeader header;
  std::span<std::byte> frames;
  std::span<std::byte> data;
  std::span<std::byte> trailer;  ///< the rest, exactly as long as the caller asked for
};

/// Empty unless the datagram has our magic number and version, and its lengths add up to the datagram's own.
std::optional<Packet> parse_packet(std::span<std::byte> datagram, std::size_t trailer) noexcept;

/// Length of the packet at the beginning of `datagrams`, according to its header. All of `datagrams` if the header is
/// not valid.
std::size_t packet_bytes(std::span<const std::byte> datagrams, std::size_t trailer) noexcept;

// The decoded frames. `bytes` refers to the packet's memory.
struct Ack {
  AckFrame frame;
  std::array<AckRange, kMostAckRanges> ranges;
};
struct Message {
  std::span<const std::byte> bytes;
};
struct Fragment {
  FragmentFrame frame;
  std::span<const std::byte> bytes;
};
struct Put {
  PutFrame frame;
  SignalPart signal;  ///< meaningful if frame.flags & kSignal
  WordPart word;      ///< meaningful if frame.flags & kToWord
  std::span<const std::byte> bytes;
};
struct Get {
  GetFrame frame;
};
struct Data {
  DataFrame frame;
  std::span<const std::byte> bytes;
};
struct Close {};
struct Probe {
  ProbeFrame frame;
};
using Frame = std::variant<Ack, Message, Fragment, Put, Get, Data, Close, Probe>;

/// Iterates over the frames of a packet. No other code reads them.
class FrameReader {
 public:
  explicit FrameReader(const Packet& packet) noexcept : frames_(packet.frames), data_(packet.data) {}

  /// The next frame. Empty at the end, or at the first malformed frame: see `good`.
  std::optional<Frame> next() noexcept;
  /// After the end: whether every byte belonged to a well-formed frame.
  bool good() const noexcept { return good_ && frames_.empty() && data_.empty(); }

 private:
  template <class T>
  bool take(T& into) noexcept;
  /// The bytes of a frame: the bulk data, or the next `bytes` of the frames, padded.
  bool take_bytes(bool bulk, std::size_t bytes, std::span<const std::byte>& into) noexcept;
  /// The bytes of a long message: the last of the frames, and all of the bulk data behind them.
  bool take_long(std::size_t bytes, std::span<const std::byte>& into) noexcept;
  std::optional<Frame> bad() noexcept;

  std::span<const std::byte> frames_;
  std::span<const std::byte> data_;
  bool good_ = true;
};

/// Whether all frames of the packet are well-formed and allowed in a packet of its kind. Called before any frame has an
/// effect.
bool well_formed(const Packet& packet) noexcept;

}  // namespace aqueduct::conduits::udp
