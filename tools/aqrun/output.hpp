#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Brings what the ranks write to one of their standard streams to one of ours.
///
/// With labels, whole lines, each behind its label; otherwise bytes as they come. Each rank's order is kept.
/// Nothing here blocks: what our reader does not take waits, up to a limit, and then the ranks wait as they
/// would without us. When our reader is gone, or its file full, so are theirs: what was not brought on is lost, and
/// `failure` says so.
class Output {
 public:
  explicit Output(int to);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// A pipe for one more rank, whose lines begin with `label`. Returns the end to write to, which the caller
  /// closes, or -1 and errno.
  int add(std::string label);
  /// A rank elsewhere, whose output others bring with `put`. Returns what stands for it there.
  int add_remote(std::string label);
  /// Takes what a rank elsewhere has written; no bytes: that was all. Never more than it was told that there is
  /// room for.
  void put(int remote, std::string_view bytes);
  /// Whether ranks elsewhere may send more. Whether nobody reads any more.
  bool has_room() const noexcept { return !congested(); }
  bool is_broken() const noexcept { return failure_ != 0; }
  /// Why nothing more is written, as an errno; 0: it goes on.
  int failure() const noexcept { return failure_; }
  /// A line of our own.
  void say(std::string_view line);

  /// What to wait for before the next `serve`.
  void wait_for(std::vector<pollfd>& events) const;
  /// Reads and writes what can be without blocking.
  void serve();
  /// Whether all that was written so far has been brought on. Requires: nobody writes any more.
  bool finished() const;

 private:
  struct Stream {
    std::string label;
    std::string line;  // what has come of a line that is not whole yet
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
  const int epoll_;    // watches all pipes, so that a wait costs the same for 2 ranks and for 256
  bool whole_writes_;  // to a file: no need for small pieces
  int failure_ = 0;
  std::string pending_;
  std::size_t written_ = 0;                  // of pending_
  std::unordered_map<int, Stream> streams_;  // by pipe; those elsewhere by numbers below 0
  int remotes_ = 0;
};

}  // namespace aqrun
