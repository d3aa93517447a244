#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Our end of a pipe or socket, without blocking: what cannot be written at once is kept until it can.
class Tube {
 public:
  enum class Got { some, nothing, ended };

  /// Owns `descriptor`; -1: closed.
  explicit Tube(int descriptor = -1);
  ~Tube() { close(); }
  Tube(Tube&& from) noexcept;
  Tube& operator=(Tube&& from) noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Bytes that wait to be written.
  std::size_t pending() const noexcept { return pending_.size() - written_; }
  void close() noexcept;

  /// Replaces `into` by what there is, at most `most` bytes. After `ended` the tube is closed.
  Got read(std::string& into, std::size_t most);
  /// Writes what can be and keeps the rest. If nobody reads, the tube is closed.
  void write(std::string_view bytes);
  void flush() { write({}); }
  /// Adds what to wait for: room for what is pending, and something to read if that is wanted.
  void wait_for(std::vector<pollfd>& events, bool to_read) const;

 private:
  int descriptor_ = -1;
  std::string pending_;
  std::size_t written_ = 0;  // of pending_
};

}  // namespace aqrun
