#pragma once

#include <string>
#include <vector>

#include <poll.h>

namespace aqrun {

/// The standard input of the first process; the others have none.
///
/// A file or pipe is passed on as it is. A terminal gives input only to its foreground process group, which is
/// aqrun's and not the ranks'. So this class copies a terminal's input into a pipe for the rank. It does the same if
/// the first process is on another host (`relayed`).
class Input {
 public:
  explicit Input(bool to_first, bool relayed = false);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int for_process(unsigned process) const noexcept { return process == 0 ? first_ : nothing_; }
  /// If relayed: the read end of the pipe, which the caller owns from here on;
  /// -1 if there is none. Instead of `started`.
  int hand_over() noexcept;
  /// To be called when all processes have been started.
  void started() noexcept;

  void wait_for(std::vector<pollfd>& events) const;
  /// Reads and writes as much as is possible without blocking.
  void serve();

 private:
  void stop() noexcept;

  int nothing_ = -1;  // /dev/null
  int first_ = -1;
  int pipe_ = -1;  // to the first process, if its input is copied
  std::string pending_;
};

}  // namespace aqrun
