#pragma once

#include <aqueduct/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The messages of a process and its launcher over a stream socket.
///
/// A frame is a length (4 bytes; it counts what follows), a kind (1 byte) and a body. All numbers are little-endian.
/// The layout of Hello and Refused is the same in all protocol versions, so that two versions can still
/// tell each other why they do not work together; a later Hello may be longer.
namespace aqueduct::bootstrap::wire {

/// Raised whenever a frame changes its meaning or layout.
inline constexpr std::uint32_t kProtocol = 3;
/// The longest frame, in bytes; chosen: 256 processes may give 256 KiB each.
inline constexpr std::size_t kMostFrame = std::size_t{64} << 20;
/// Longer texts are cut between characters, in bytes; chosen.
inline constexpr std::size_t kMostText = 4096;
/// The beginning of the text, at most `most` bytes. No character of UTF-8 is cut in two; text that is not UTF-8 may be cut anywhere.
std::string_view whole_characters(std::string_view text, std::size_t most) noexcept;

using Blob = std::vector<std::byte>;

/// From a process, its first message.
struct Hello {
  std::uint32_t protocol = kProtocol;
  std::uint32_t library = 0;
  std::uint32_t process = 0;
  bool operator==(const Hello&) const = default;
};
/// From a process: its part of a round. Rounds are numbered 0, 1, …
struct Exchange {
  std::uint32_t round = 0;
  Blob blob;
  bool operator==(const Exchange&) const = default;
};
/// To a process: everybody's part, by process.
struct ExchangeResult {
  std::uint32_t round = 0;
  std::vector<Blob> blobs;
  bool operator==(const ExchangeResult&) const = default;
};
/// To a process: another process has ended, or is cut off from the network. From a process: it is cut off itself.
struct Lost {
  std::uint32_t process = 0;
  bool operator==(const Lost&) const = default;
};
/// From a process: it exits on purpose and is not lost.
struct Leave {
  bool operator==(const Leave&) const = default;
};
/// From a process: end the whole job.
struct Abort {
  std::int32_t code = 0;
  std::string why;
  bool operator==(const Abort&) const = default;
};
/// To a process: this and every later exchange fails.
struct Refused {
  ErrorCode code = ErrorCode::internal;
  std::string why;
  bool operator==(const Refused&) const = default;
};

/// In both directions: `process` leaves, and the whole job ends with `code` (Job::leave). The launcher sends the first
/// one that it gets to all processes, last to the sender.
struct Exit {
  std::uint32_t process = 0;
  std::int32_t code = 0;
  bool operator==(const Exit&) const = default;
};

using Message = std::variant<Hello, Exchange, ExchangeResult, Lost, Leave, Abort, Refused, Exit>;

/// The whole frame. Requires: it is not longer than kMostFrame (see `frame_bytes`).
Blob encode(const Message& message);
/// As `encode`, without allocation. Async-signal-safe.
std::array<std::byte, 13> encode_exit(const Exit& exit) noexcept;
/// As `encode` of a Leave, without allocation.
std::array<std::byte, 5> encode_leave() noexcept;
/// How long the frame of a result of these blobs would be, in bytes.
std::size_t frame_bytes(std::span<const Blob> blobs) noexcept;

/// Reads one frame without its length. Errors: bootstrap_failed for anything but a well-formed message.
Result<Message> decode(std::span<const std::byte> frame);

/// Splits the bytes of a stream into messages. Memory grows with what has arrived, never with an announced length.
class Frames {
 public:
  /// Reserves memory for this many more bytes, so that `append` allocates none for them.
  void make_room(std::size_t bytes);
  void append(std::span<const std::byte> arrived);
  /// The next whole message, if there is one. Errors: bootstrap_failed; the stream cannot be used afterwards.
  Result<std::optional<Message>> next();

 private:
  Blob bytes_;
  std::size_t taken_ = 0;
};

}  // namespace aqueduct::bootstrap::wire
