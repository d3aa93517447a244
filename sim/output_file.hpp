#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace aqueduct::sim {

/// Why the file cannot be written, for a look before the work whose results it takes; empty if it can. A file that is
/// there stays as it is. Of pipes and devices only writing itself shows it. `what`: "plot".
std::string output_problem(std::string_view what, const std::string& file);

/// A file that is written beside the one that it replaces, and takes its place when it is whole: whoever is stopped, or has no room
/// on the disk, leaves the old one as it was. Pipes, devices, and files in folders that cannot be written to are written where they are.
class OutputFile {
 public:
  explicit OutputFile(std::string name) : name_(std::move(name)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void open();
  bool is_open() const noexcept { return file_ != nullptr; }
  void write(std::string_view text);
  /// Puts the file in its place. Returns what went wrong since `open`, in the system's words, or nothing.
  std::string finish();

 private:
  void fail() noexcept;
  void give_name();

  std::string name_;
  std::string place_;      ///< the name, without links
  std::string fresh_;      ///< the file beside it; empty: it is written in place
  bool nameless_ = false;  ///< it gets the name `fresh_` when it is whole
  std::FILE* file_ = nullptr;
  int problem_ = 0;  ///< the first errno
};

}  // namespace aqueduct::sim
