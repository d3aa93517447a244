#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/types.h>

namespace aqrun {

/// Our end of a pipe or socket. It does not block: bytes that cannot be written at once are kept until they can.
class Tube {
 public:
  enum class Got { some, nothing, ended };

  /// Owns `descriptor`; -1: closed.
  explicit Tube(int descriptor = -1);
  ~Tube() { close(); }
  Tube(Tube&& from) noexcept;
  Tube& operator=(Tube&& from) noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Bytes that are kept.
  std::size_t pending() const noexcept { return pending_.size() - written_; }
  void close() noexcept;

  /// Replaces `into` by what has arrived, at most `most` bytes. After `ended` the tube is closed.
  Got read(std::string& into, std::size_t most);
  /// From now on `sender` is the process that has sent what was read last. Requires: a socket, and nothing has been sent.
  void tell_senders() noexcept;
  /// 0: not known, or the tube is closed.
  pid_t sender() const noexcept { return is_open() ? sender_ : 0; }
  /// Writes as much as possible and keeps the rest. Closes the tube if nobody reads.
  void write(std::string_view bytes);
  void flush() { write({}); }
  /// Adds what to wait for: writability for kept bytes, and readability if `to_read`.
  void wait_for(std::vector<pollfd>& events, bool to_read) const;

 private:
  int descriptor_ = -1;
  bool tells_senders_ = false;
  pid_t sender_ = 0;
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
};

}  // namespace aqrun
