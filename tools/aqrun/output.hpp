#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Forwards what the ranks write to one of their standard streams to the same stream of this process.
///
/// With labels it forwards whole lines, each behind its label; otherwise bytes as they come. Each rank's order is
/// kept. Nothing blocks. Bytes that our reader does not accept are kept, up to a limit; then the ranks wait as they
/// would without aqrun. When our reader has gone or its disk is full, the ranks get EPIPE: bytes that were not
/// forwarded are lost, and `failure` tells why.
class Output {
 public:
  explicit Output(int to);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Makes a pipe for one more rank, whose lines begin with `label`. Returns the end to write to,
  /// which the caller closes, or -1 and errno.
  int add(std::string label);
  /// Adds a rank on another host, whose output arrives through `put`. Returns its number for `put`.
  int add_remote(std::string label);
  /// Takes what a rank on another host has written; no bytes: end of the stream. The
  /// sender keeps to the room that it was granted.
  void put(int remote, std::string_view bytes);
  /// Whether ranks on other hosts may send more. Whether nobody reads any more.
  bool has_room() const noexcept { return !congested(); }
  bool is_broken() const noexcept { return failure_ != 0; }
  /// The errno of the write that failed; 0: none has.
  int failure() const noexcept { return failure_; }
  /// Whether our reader has not accepted all of it yet. How many bytes it has accepted so far.
  bool waits_for_reader() const noexcept { return written_ < pending_.size(); }
  std::uint64_t accepted() const noexcept { return accepted_; }
  /// Prints a line of aqrun's own.
  void say(std::string_view line);

  /// Adds what to wait for before the next `serve`.
  void wait_for(std::vector<pollfd>& events) const;
  /// Reads and writes as much as is possible without blocking.
  void serve();
  /// Whether everything written so far has been forwarded. Requires: no rank writes any more.
  bool finished() const;

 private:
  struct Stream {
    std::string label;
    std::string line;  // the beginning of a line that is not complete yet
  };

  bool congested() const noexcept;
  bool read_from(int pipe);
  void take(Stream& stream, std::string_view bytes);
  void put_line(const Stream& stream, std::string_view line);
  void write_out();
  void give_up(int why);
  void close_pipes() noexcept;
  void close_stream(int pipe);

  const int to_;
  const int epoll_;    // watches all pipes, so that a wait costs the same for 2 and for 256 ranks
  bool whole_writes_;  // to a file: writes need not be split
  int failure_ = 0;
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
  std::uint64_t accepted_ = 0;
  // What one read takes at most: a pipe's content. Not on the stack, which may be small (ulimit -s).
  static constexpr std::size_t kMostRead = 65536;
  std::unique_ptr<char[]> piece_ = std::make_unique_for_overwrite<char[]>(kMostRead);
  std::unordered_map<int, Stream> streams_;  // by pipe; remote ones have negative numbers
  int remotes_ = 0;
};

}  // namespace aqrun
