#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace aqueduct::fault {

/// A limit that only a failure reaches: everything it bounds should take a fraction of it.
inline constexpr std::chrono::seconds kBound{40};

/// A program that a test starts and watches. The destructor ends it in any case.
///
/// Its environment is this process's without AQUEDUCT_* variables, plus those that the test adds.
class Launch {
 public:
  explicit Launch(std::vector<std::string> command, const std::vector<std::string>& variables = {});
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  pid_t pid() const noexcept { return pid_; }
  /// Waits until its standard output has `count` lines that contain `text`.
  bool says(std::string_view text, std::size_t count = 1);
  /// Waits for its end. Returns the exit status, 128 + signal, or -1 if it had to be killed at the limit.
  int status();
  void signal(int number) const noexcept;

  const std::string& out() const noexcept { return streams_[0].text; }
  const std::string& err() const noexcept { return streams_[1].text; }
  /// The lines of its standard output that contain `text`.
  std::vector<std::string> lines(std::string_view text) const;
  /// The time from start to end; the processor time of it and its children.
  std::chrono::duration<double> took() const noexcept { return ended_ - began_; }
  std::chrono::duration<double> processor_time() const noexcept;

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;
  };
  bool read_some();

  pid_t pid_ = -1;
  int status_ = -1;
  bool reaped_ = false;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point ended_;
  Stream streams_[2];
  rusage usage_{};
};

/// The command line of aqrun with these arguments.
std::vector<std::string> aqrun(std::vector<std::string> arguments);
/// The path of a program of tests/fault/programs, or of a tool.
std::string program(std::string_view name);
/// How often `part` occurs in `text`.
std::size_t count(std::string_view text, std::string_view part) noexcept;
inline bool has(std::string_view text, std::string_view part) noexcept { return count(text, part) != 0; }

}  // namespace aqueduct::fault
