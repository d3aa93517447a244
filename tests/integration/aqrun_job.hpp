#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace aqueduct::integration {

/// aqrun as a child of the test, with pipes as its streams.
class AqrunJob {
 public:
  explicit AqrunJob(std::vector<std::string> arguments, const std::string& input = {});
  ~AqrunJob();
  AqrunJob(const AqrunJob&) = delete;
  AqrunJob& operator=(const AqrunJob&) = delete;

  /// Reads until the condition holds; false at the end of both streams or at the time limit.
  bool read_until(const std::function<bool()>& condition);
  /// Waits for the end of aqrun and of its streams. Returns the exit status, 128 + signal, or -1 at the time limit.
  int status();
  const std::string& out() const { return streams_[0].text; }
  const std::string& err() const { return streams_[1].text; }
  std::vector<std::string> lines() const;
  std::size_t count_lines(const std::string& wanted) const;
  pid_t pid() const { return pid_; }
  void signal(int number) const;
  void close_output();

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;
    bool open = true;
  };
  pid_t pid_ = -1;
  int status_ = -1;
  std::vector<Stream> streams_;
};

/// `options` and a shell script in which $p is the process's number.
std::vector<std::string> shell(std::vector<std::string> options, const std::string& script);
bool has(std::string_view text, std::string_view part);
/// Each rank prints its own process id and that of a child that it leaves behind.
inline constexpr const char* kFamily = "echo $$; sleep 300 & echo $!; ";
/// Whether all processes with the printed ids have ended, after a few seconds at the latest.
bool all_end(const std::vector<std::string>& pids);

}  // namespace aqueduct::integration
