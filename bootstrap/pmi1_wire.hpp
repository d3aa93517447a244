#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

/// The wire protocol of PMI-1, as MPICH's process managers speak it: lines of "cmd=get key=… value=…".
namespace aqueduct::bootstrap::pmi1 {

/// One line, split into fields. Every field ends at the next blank, those after "msg=" and "value=" too.
class Line {
 public:
  explicit Line(std::string text) : text_(std::move(text)) {}
  /// The text behind "name="; nothing if there is no such field.
  std::optional<std::string_view> field(std::string_view name) const;
  std::optional<std::uint32_t> number(std::string_view name) const;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// Encodes any bytes as letters, digits, '-' and '_', which every process manager accepts; and decodes them.
std::string to_letters(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> from_letters(std::string_view letters);

/// The node of a process, by the manager's mapping "(vector,(first node,nodes,processes each),…)".
std::optional<std::uint32_t> node_of(std::string_view mapping, std::uint32_t process);

/// A descriptor together with the file that it stood for, since somebody else in the process may close it, and the number
/// may then stand for another file.
struct OpenFile {
  int descriptor;
  dev_t device = 0;
  ino_t inode = 0;

  static OpenFile of(int descriptor) noexcept;
  bool is_still_open() const noexcept;
};

/// The connection to the process manager. One line is sent, then one line is received. If somebody else has closed the
/// descriptor, the connection counts as closed.
class Connection {
 public:
  /// Owns the descriptor from here on.
  explicit Connection(const OpenFile& file) noexcept : file_(file), descriptor_(file.descriptor) {}
  explicit Connection(int descriptor) noexcept : Connection(OpenFile::of(descriptor)) {}
  ~Connection();
  const OpenFile& file() const noexcept { return file_; }
  /// Does not own the descriptor any more.
  void leave_open() noexcept { owns_ = false; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Trouble { none, closed, late, garbage };

  /// Sends a line and reads the next one, which must begin with "cmd=`answer`"; any other one is `garbage`.
  std::optional<Line> ask(const std::string& line, std::string_view answer,
                          std::chrono::milliseconds timeout);
  /// Why there was no answer.
  Trouble trouble() const noexcept { return trouble_; }
  /// Whether the manager has closed its end. Never blocks. False if somebody else has closed this end.
  bool is_closed() noexcept;
  /// Waits until the manager has closed its end, or until the deadline. Other threads may use the connection.
  void wait_until_closed(std::chrono::steady_clock::time_point deadline) const noexcept;
  /// Sends a line that has no answer.
  bool tell(const std::string& line, std::chrono::milliseconds timeout);

 private:
  std::optional<std::string> read_line(std::chrono::steady_clock::time_point deadline);

  const OpenFile file_;
  const int descriptor_;
  bool owns_ = true;
  std::string arrived_;
  Trouble trouble_ = Trouble::none;
};

}  // namespace aqueduct::bootstrap::pmi1
