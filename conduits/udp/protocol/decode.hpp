#pragma once

#include <aqueduct/atomic_types.hpp>

#include "conduits/udp/protocol/wire.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
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
struct Update {
  UpdateFrame frame;

  detail::AtomicCall call() const noexcept {
    return {.op = static_cast<AtomicOp>(frame.op),
            .type = static_cast<AtomicType>(frame.type),
            .operand = frame.operand};
  }
};
struct Close {};
struct Probe {
  ProbeFrame frame;
};
using Frame = std::variant<Ack, Message, Fragment, Put, Get, Data, Close, Probe, Update>;

/// Iterates over the frames of a packet. No other code reads them.
class FrameReader {
 public:
  explicit FrameReader(const Packet& packet) noexcept : frames_(packet.frames), data_(packet.data) {}

  /// The next frame. Empty at the end, or at the first malformed frame: see `good`.
  std::optional<Frame> next() noexcept;
  /// As next, but calls `take` with the frame as it is, an Ack, a Put, and so on. False: there was none.
  template <class Take>
  bool next(const Take& take) noexcept;
  /// After the end: whether every byte belonged to a well-formed frame.
  bool good() const noexcept { return good_ && frames_.empty() && data_.empty(); }

 private:
  // Whether one of these comes next, well-formed.
  bool read(Ack& ack) noexcept;
  bool read(Message& message) noexcept;
  bool read(Fragment& fragment) noexcept;
  bool read(Put& put) noexcept;
  bool read(Get& get) noexcept;
  bool read(Data& data) noexcept;
  bool read(Close& close) noexcept;
  bool read(Probe& probe) noexcept;
  bool read(Update& update) noexcept;
  template <class T, class Take>
  bool give(const Take& take) noexcept;

  template <class T>
  bool cut(T& into) noexcept;
  /// The bytes of a frame: the bulk data, or the next `bytes` of the frames, padded.
  bool cut_bytes(bool bulk, std::size_t bytes, std::span<const std::byte>& into) noexcept;
  /// The bytes of a long message: the last of the frames, and all of the bulk data behind them.
  bool cut_long(std::size_t bytes, std::span<const std::byte>& into) noexcept;

  std::span<const std::byte> frames_;
  std::span<const std::byte> data_;
  bool good_ = true;
};

template <class T>
bool FrameReader::cut(T& into) noexcept {
  if (frames_.size() < sizeof(T)) return false;
  std::memcpy(&into, frames_.data(), sizeof(T));
  frames_ = frames_.subspan(sizeof(T));
  return true;
}

inline bool FrameReader::cut_bytes(bool bulk, std::size_t bytes, std::span<const std::byte>& into) noexcept {
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

// In the header, so that it is inlined: a packet holds many short puts.
inline bool FrameReader::read(Put& put) noexcept {
  if (!cut(put.frame)) return false;
  const std::uint8_t flags = put.frame.flags;
  if ((flags & kSignal) != 0 && (!cut(put.signal) || put.frame.bytes > put.signal.total)) return false;
  if ((flags & kToWord) != 0 && ((flags & kSignal) == 0 || !cut(put.word))) return false;
  return cut_bytes((flags & kBulk) != 0, put.frame.bytes, put.bytes);
}

template <class T, class Take>
bool FrameReader::give(const Take& take) noexcept {
  T frame;
  good_ = read(frame);
  if (good_) take(std::as_const(frame));
  return good_;
}

template <class Take>
bool FrameReader::next(const Take& take) noexcept {
  if (frames_.empty() || !good_) return false;
  switch (static_cast<FrameKind>(frames_.front())) {
    case FrameKind::ack: return give<Ack>(take);
    case FrameKind::message: return give<Message>(take);
    case FrameKind::fragment: return give<Fragment>(take);
    case FrameKind::put: return give<Put>(take);
    case FrameKind::get: return give<Get>(take);
    case FrameKind::data: return give<Data>(take);
    case FrameKind::close: return give<Close>(take);
    case FrameKind::probe: return give<Probe>(take);
    case FrameKind::update: return give<Update>(take);
  }
  return good_ = false;
}

/// What the frames of a packet take room for at the receiver. Counted before any of them has an effect.
struct Needs {
  std::size_t gets = 0;
  std::size_t messages = 0;       ///< and fragments, each of which may complete a message
  std::size_t message_bytes = 0;  ///< padded
  std::size_t signals = 0;        ///< to slots: a word is updated at once
  bool in_pieces = false;         ///< fragments, or pieces of a put with a signal
};

/// What the packet needs, if all of its frames are well-formed and allowed in a packet of its kind. Called before any frame
/// has an effect.
std::optional<Needs> needs_of(const Packet& packet) noexcept;

}  // namespace aqueduct::conduits::udp
