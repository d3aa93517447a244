#pragma once

#include <aqueduct/config.hpp>
#include <aqueduct/rank.hpp>

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace aqueduct::core {

/// error: work was lost · warn: it works, but worse · info: once a job · debug: once an object
enum class LogLevel : int { debug, info, warn, error, off };

/// Messages for the user. Each endpoint and each job has its own log; nothing is global. Thread-safe.
///
/// Writes to standard error through spdlog, from the level AQUEDUCT_LOG upwards, each line with the rank.
class Log {
 public:
  using Sink = std::function<void(LogLevel, std::string_view)>;

  Log(const Config& config, Rank rank);
  Log(LogLevel least, Sink sink);  // for tests: every line goes to `sink`
  ~Log();
  Log(Log&&) noexcept;

  bool writes(LogLevel level) const noexcept { return level >= least_; }
  template <class... T>
  void error(fmt::format_string<T...> format, const T&... args) {
    write(LogLevel::error, format, fmt::make_format_args(args...));
  }
  template <class... T>
  void warn(fmt::format_string<T...> format, const T&... args) {
    write(LogLevel::warn, format, fmt::make_format_args(args...));
  }
  template <class... T>
  void info(fmt::format_string<T...> format, const T&... args) {
    write(LogLevel::info, format, fmt::make_format_args(args...));
  }
  template <class... T>
  void debug(fmt::format_string<T...> format, const T&... args) {
    if (writes(LogLevel::debug)) write(LogLevel::debug, format, fmt::make_format_args(args...));
  }

 private:
  void write(LogLevel level, fmt::string_view format, fmt::format_args args) noexcept;

  struct Impl;
  std::unique_ptr<Impl> impl_;
  LogLevel least_;
};

}  // namespace aqueduct::core
