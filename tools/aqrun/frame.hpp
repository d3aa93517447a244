#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What aqrun and its agent on another host say to one another over the agent's standard streams.
namespace aqrun {

/// Raised whenever a frame changes its meaning or layout. A hello stays readable to all versions.
inline constexpr std::uint32_t kAgentProtocol = 1;
/// A hello's bytes begin with this: what a remote shell prints by itself does not.
inline constexpr std::string_view kAgentMagic = "aqrun-agent ";
/// No frame carries more, in bytes; chosen: twice the longest argument or variable that Linux hands to a program.
inline constexpr std::size_t kMostFrameBytes = std::size_t{256} << 10;

enum class Kind : std::uint8_t {
  hello = 1,      ///< both ways, first of all: number is the protocol
  folder,         ///< to the agent: where to run
  argument,       ///< to the agent: one more word of the program's command line
  variable,       ///< to the agent: one more "NAME=value" for the ranks
  binding,        ///< to the agent: what --bind names
  process,        ///< to the agent: one more process; number is its AQUEDUCT_ENDPOINTS, or 0
  start,          ///< to the agent: that was all; number is 1 if its first process reads the input
  started,        ///< from the agent: number is the process's identifier
  refused,        ///< from the agent: it does not run this host's ranks; number is the status to end with
  bootstrap,      ///< both ways: bytes of a process's stream to the bootstrap server
  bootstrap_end,  ///< both ways: that stream is over
  input,          ///< to the agent: what its first process reads
  input_end,      ///< both ways: there is no more, or nobody reads it
  output,         ///< from the agent: written to a standard output; no bytes: it is over
  errors,         ///< from the agent: written to a standard error; no bytes: it is over
  took,           ///< both ways: as many bytes (number) more may follow of the kind in `process`
  shut,           ///< to the agent: nobody reads the kind in `process` any more
  signal,         ///< to the agent: for all its processes and what they started
  ended,          ///< from the agent: number is what waitpid said
  clear,          ///< to the agent: the job is over, let nothing be left
  cleared,        ///< from the agent: no process is left; output may follow
};
inline constexpr Kind kLastKind = Kind::cleared;

struct Frame {
  Kind kind = Kind::hello;
  std::uint32_t process = 0;  ///< of the job, not of the host
  std::uint32_t number = 0;
  std::string bytes;
  bool operator==(const Frame&) const = default;
};

/// Length (4 bytes: of what follows), kind (1), process (4), number (4), bytes; little-endian.
/// Requires: at most kMostFrameBytes bytes.
std::string encode(const Frame& frame);

/// Cuts the bytes of a stream into frames. Memory grows with what arrived, never with what was announced.
class FrameReader {
 public:
  void append(std::string_view arrived);
  /// The next whole frame, if there is one.
  std::optional<Frame> next();
  /// What came was no frame; `next` finds nothing any more.
  bool broken() const noexcept { return broken_; }
  /// What has arrived and was not taken.
  std::string_view rest() const noexcept { return std::string_view(bytes_).substr(taken_); }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace aqrun
