#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The protocol of aqrun and its agent on another host, over the agent's standard streams.
namespace aqrun {

/// Raised whenever a frame changes its meaning or layout. All versions can read a hello.
inline constexpr std::uint32_t kAgentProtocol = 1;
/// The first bytes of a hello: text that a remote shell prints by itself does not begin so.
inline constexpr std::string_view kAgentMagic = "aqrun-agent ";
/// The longest frame, in bytes; chosen: twice the longest argument or variable that Linux passes to a program.
inline constexpr std::size_t kMostFrameBytes = std::size_t{256} << 10;

enum class Kind : std::uint8_t {
  hello = 1,      ///< both ways, the first frame: number is the protocol
  folder,         ///< to the agent: the working folder
  argument,       ///< to the agent: the next word of the program's command line
  variable,       ///< to the agent: one more "NAME=value" for the ranks
  binding,        ///< to the agent: the value of --bind
  process,        ///< to the agent: the next process; number is its AQUEDUCT_ENDPOINTS, or 0
  start,          ///< to the agent: end of the setup; number is 1 if the first process reads the input
  started,        ///< from the agent: number is the process id
  refused,        ///< from the agent: it cannot run this host's ranks; number is aqrun's exit status
  bootstrap,      ///< both ways: bytes of a process's stream to the bootstrap server
  bootstrap_end,  ///< both ways: that stream has ended
  input,          ///< to the agent: standard input of its first process
  input_end,      ///< both ways: end of the input, or nobody reads it
  output,         ///< from the agent: bytes of a standard output; no bytes: it has ended
  errors,         ///< from the agent: bytes of a standard error; no bytes: it has ended
  took,           ///< both ways: number more bytes of the kind in `process` may be sent
  shut,           ///< to the agent: nobody reads the kind in `process` any more
  signal,         ///< to the agent: for its ranks, or to end all its processes and their descendants
  ended,          ///< from the agent: number is the wait status
  clear,          ///< to the agent: the job is over, kill everything that is left
  cleared,        ///< from the agent: no process is left; output may follow
};
inline constexpr Kind kLastKind = Kind::cleared;

struct Frame {
  Kind kind = Kind::hello;
  std::uint32_t process = 0;  ///< its number in the job, not on the host
  std::uint32_t number = 0;
  std::string bytes;
  bool operator==(const Frame&) const = default;
};

/// The layout: length (4 bytes; it counts what follows), kind (1), process (4), number (4), bytes; little-endian.
/// Requires: at most kMostFrameBytes bytes.
std::string encode(const Frame& frame);

/// Splits the bytes of a stream into frames. Memory grows with what has arrived, never with an announced length.
class FrameReader {
 public:
  void append(std::string_view arrived);
  /// The next whole frame, if there is one.
  std::optional<Frame> next();
  /// An invalid frame arrived; `next` finds nothing any more.
  bool broken() const noexcept { return broken_; }
  /// Bytes that have arrived and were not taken.
  std::string_view rest() const noexcept { return std::string_view(bytes_).substr(taken_); }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace aqrun
