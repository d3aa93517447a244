#pragma once

#include <string>
#include <vector>

#include <poll.h>

namespace aqrun {

/// What the first process reads as its standard input; the others have none.
///
/// A file or pipe is handed on as it is. A terminal gives input only to the process group in its foreground,
/// which is ours and not the ranks': there, a pipe and this class stand between. So they do if the first process
/// is on another host (`relayed`).
class Input {
 public:
  explicit Input(bool to_first, bool relayed = false);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int for_process(unsigned process) const noexcept { return process == 0 ? first_ : nothing_; }
  /// If relayed: the pipe that has the input, for the caller to own; -1 if there is none. Instead of `started`.
  int hand_over() noexcept;
  /// All processes have been started.
  void started() noexcept;

  void wait_for(std::vector<pollfd>& events) const;
  /// Reads and writes what can be without blocking.
  void serve();

 private:
  void stop() noexcept;

  int nothing_ = -1;  // /dev/null
  int first_ = -1;
  int pipe_ = -1;  // to the first process, if it reads a terminal
  std::string pending_;
};

}  // namespace aqrun
