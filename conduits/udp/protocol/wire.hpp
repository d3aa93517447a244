#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// The layout of datagrams (docs/wire-format.md).
///
/// A datagram is a PacketHeader, then frames, then at most one block of bulk data that the last frame refers to. All
/// numbers are little-endian. Everything begins at a multiple of 8 bytes and is padded with zeros to one, except the
/// end of bulk data.
namespace aqueduct::conduits::udp {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian, and so must the machine be");

inline constexpr std::uint16_t kMagic = 0x5141;  // "AQ"
/// Incremented whenever anything below changes.
inline constexpr std::uint8_t kWireVersion = 4;

enum class PacketKind : std::uint8_t {
  data,          ///< numbered; retransmitted under the same number until acknowledged
  control,       ///< acknowledgement or close: neither acknowledged nor retransmitted
  ping,          ///< control packet that asks for an acknowledgement
  probe,         ///< padded to a length that the path may or may not carry (path MTU discovery)
  probe_answer,  ///< a probe has arrived
};

struct PacketHeader {
  std::uint16_t magic = kMagic;
  std::uint8_t version = kWireVersion;
  PacketKind kind = PacketKind::data;
  std::uint32_t from = 0;     ///< rank
  std::uint32_t to = 0;       ///< rank
  std::uint16_t attempt = 0;  ///< earlier transmissions of this number
  std::uint8_t flags = 0;     ///< kImmediateAck
  std::uint8_t zero = 0;
  std::uint64_t number = 0;  ///< data packets count from 0; the other kinds share a second count
  std::uint32_t stamp = 0;   ///< the sender's clock in units of 256 ns, echoed by acknowledgements
  std::uint16_t frames = 0;  ///< bytes of frames that follow
  std::uint16_t data = 0;    ///< bytes of bulk data after them
  std::uint64_t tag = 0;     ///< keyed hash of the header, with 0 here, and of the frames
};
static_assert(sizeof(PacketHeader) == 40);

/// Asks for an immediate acknowledgement: somebody waits for it.
inline constexpr std::uint8_t kImmediateAck = 1;
/// A tick of `stamp` and `delay` is 2^kStampShift nanoseconds.
inline constexpr int kStampShift = 8;
constexpr std::uint32_t stamp_of(std::int64_t nanoseconds) noexcept {
  return static_cast<std::uint32_t>(nanoseconds >> kStampShift);
}

enum class FrameKind : std::uint8_t { ack = 1, message, fragment, put, get, data, close, probe, update };

/// Every number below `next` has arrived. `ranges` AckRanges follow, with the numbers above that have arrived.
struct AckFrame {
  FrameKind kind = FrameKind::ack;
  std::uint8_t ranges = 0;
  std::uint16_t delay = 0;  ///< ticks since the packet with the echoed stamp arrived; 65535: longer
  std::uint32_t echo = 0;   ///< a stamp that the receiver of this frame sent; 0 with delay 65535: none yet
  std::uint64_t next = 0;
  std::uint32_t window = 0;      ///< bytes that may be in flight to the sender of this frame
  std::uint32_t duplicates = 0;  ///< duplicate packets that have arrived so far
};
static_assert(sizeof(AckFrame) == 24);

/// `skip` numbers have not arrived, then `count` numbers have. The first range counts from AckFrame::next.
struct AckRange {
  std::uint32_t skip = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(AckRange) == 8);
inline constexpr std::size_t kMostAckRanges = 16;

/// The longest message of the layers above: 16 KiB and the headers of any layer.
inline constexpr std::size_t kMostMessage = 16'640;

/// The first bytes of a long message travel with the frames, not as bulk data. They contain the headers of the layers
/// above, so the tag covers these headers.
inline constexpr std::size_t kGuarded = 128;

/// A whole packet of the layers above. Its `bytes` follow, padded. Of a long one (kBulk) the first kGuarded bytes
/// follow, and the rest is the packet's bulk data, also padded; so the message is contiguous in the datagram.
struct MessageFrame {
  FrameKind kind = FrameKind::message;
  std::uint8_t flags = 0;
  std::uint8_t zero[2] = {};
  std::uint32_t bytes = 0;
};
static_assert(sizeof(MessageFrame) == 8);
static_assert(kGuarded % 8 == 0);

/// A fragment of a longer message: `bytes` of bulk data belong at `offset` of message `message` with `total` bytes.
struct FragmentFrame {
  FrameKind kind = FrameKind::fragment;
  std::uint8_t zero[3] = {};
  std::uint32_t bytes = 0;
  std::uint32_t message = 0;
  std::uint32_t total = 0;
  std::uint32_t offset = 0;
  std::uint32_t zero2 = 0;
};
static_assert(sizeof(FragmentFrame) == 24);

/// The bytes are bulk data (of a message, all but the first kGuarded); else they follow here, padded.
inline constexpr std::uint8_t kBulk = 1;
inline constexpr std::uint8_t kSignal = 2;  ///< a SignalPart follows the frame, before the bytes
/// Of a DataFrame: the get was outside the segment; no bytes follow.
inline constexpr std::uint8_t kRefused = 4;

/// With kSignal: the signal is for a word of a segment, and a WordPart follows the SignalPart.
inline constexpr std::uint8_t kToWord = 8;
/// With kToWord: the signal sets the word. Otherwise it adds to the word.
inline constexpr std::uint8_t kSetsWord = 16;

/// Writes `bytes` at `offset` of the receiver's segment.
struct PutFrame {
  FrameKind kind = FrameKind::put;
  std::uint8_t flags = 0;
  std::uint16_t zero = 0;
  std::uint32_t bytes = 0;
  std::uint32_t segment = 0;
  std::uint32_t transfer = 0;  ///< with a signal: identifies the put that these bytes belong to
  std::uint64_t offset = 0;
};
static_assert(sizeof(PutFrame) == 24);

/// When `total` bytes of the transfer have arrived, the receiver adds `add` to its counter `slot`. With kToWord, `slot` is
/// the number of the word's segment, and `add` the value of the signal.
struct SignalPart {
  std::uint32_t slot = 0;
  std::uint32_t total = 0;
  std::uint64_t add = 0;
};
static_assert(sizeof(SignalPart) == 16);

/// Where the word of a signal is.
struct WordPart {
  std::uint64_t offset = 0;
};
static_assert(sizeof(WordPart) == 8);

/// Asks for `bytes` at `offset` of the receiver's segment. The receiver sends them back in DataFrames of `transfer`.
struct GetFrame {
  FrameKind kind = FrameKind::get;
  std::uint8_t zero[3] = {};
  std::uint32_t bytes = 0;
  std::uint32_t segment = 0;
  std::uint32_t transfer = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(GetFrame) == 24);

/// A piece of a get's reply, `offset` bytes from its beginning.
struct DataFrame {
  FrameKind kind = FrameKind::data;
  std::uint8_t flags = 0;
  std::uint16_t zero = 0;
  std::uint32_t bytes = 0;
  std::uint32_t transfer = 0;
  std::uint32_t offset = 0;
};
static_assert(sizeof(DataFrame) == 16);

/// The sender has ended.
struct CloseFrame {
  FrameKind kind = FrameKind::close;
  std::uint8_t zero[7] = {};
};
static_assert(sizeof(CloseFrame) == 8);

/// Answers a probe with its length (UDP payload bytes).
struct ProbeFrame {
  FrameKind kind = FrameKind::probe;
  std::uint8_t zero[3] = {};
  std::uint32_t bytes = 0;
};
static_assert(sizeof(ProbeFrame) == 8);

/// Does an atomic without a result on a word at `offset` of the receiver's segment.
struct UpdateFrame {
  FrameKind kind = FrameKind::update;
  std::uint8_t op = 0;    ///< an AtomicOp
  std::uint8_t type = 0;  ///< an AtomicType
  std::uint8_t zero = 0;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t operand = 0;
};
static_assert(sizeof(UpdateFrame) == 24);

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

}  // namespace aqueduct::conduits::udp
