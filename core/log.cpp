#include "core/log.hpp"

#include "core/readable.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <unistd.h>

namespace aqueduct::core {
namespace {

constexpr std::array<std::string_view, 5> kWords{"debug", "info", "warn", "error", "off"};

LogLevel level_of(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<LogLevel>(i);
  }
  return LogLevel::warn;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: break;
  }
  return spdlog::level::off;
}

std::unique_ptr<spdlog::logger> make_logger() {
  // Not with spdlog's factories: these enter the logger into a registry of the process. The registry belongs to the
  // program, and it holds only one logger of each name.
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_unique<spdlog::logger>("aqueduct", std::move(sink));
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
  logger->set_level(spdlog::level::debug);
  return logger;
}

}  // namespace

struct Log::Impl {
  Rank rank = kNoRank;
  Sink sink;  // if set, gets every line instead of `logger`
  std::mutex turn;
  std::unique_ptr<spdlog::logger> logger;  // made by the first line: most logs never write one

  void write_without_memory(LogLevel level, fmt::string_view format, fmt::format_args args) noexcept;
};

Log::Log(const Config& config, Rank rank)
    : impl_(std::make_unique<Impl>()), least_(level_of(config.text("log"))) {
  impl_->rank = rank;
}

Log::Log(LogLevel least, Sink sink) : impl_(std::make_unique<Impl>()), least_(least) {
  impl_->sink = std::move(sink);
}

Log::~Log() = default;
Log::Log(Log&&) noexcept = default;

void Log::write(LogLevel level, fmt::string_view format, fmt::format_args args) noexcept {
  if (!impl_ || !writes(level) || level == LogLevel::off) return;
  try {
    std::string text = fmt::vformat(format, args);
    if (text.size() > kReadableWord) text = readable(text);
    const std::lock_guard lock(impl_->turn);
    if (impl_->sink) {
      impl_->sink(level, text);
      return;
    }
    if (!impl_->logger) impl_->logger = make_logger();
    const std::string whose = impl_->rank == kNoRank ? "" : fmt::format("[rank {}] ", impl_->rank);
    const std::string_view word = kWords[static_cast<std::size_t>(level)];
    impl_->logger->log(to_spdlog(level), fmt::format("aqueduct: {}{}: {}", whose, word, text));
  } catch (const std::bad_alloc&) {
    impl_->write_without_memory(level, format, args);
  } catch (...) {
    // That a line cannot be written must not end the program, and there is no other place to report it.
  }
}

// The line may say that memory is missing, so it must not need any.
void Log::Impl::write_without_memory(LogLevel level, fmt::string_view format,
                                     fmt::format_args args) noexcept {
  try {
    std::array<char, 1024> line;
    const auto text_of = [&](std::size_t begin) {
      const auto written = fmt::vformat_to_n(line.data() + begin, line.size() - 1 - begin, format, args);
      return std::min(begin + written.size, line.size() - 1);
    };
    const std::lock_guard lock(turn);
    if (sink) return sink(level, {line.data(), text_of(0)});
    const std::string_view word = kWords[static_cast<std::size_t>(level)];
    const auto head =
        rank == kNoRank ? fmt::format_to_n(line.data(), line.size(), "aqueduct: {}: ", word)
                        : fmt::format_to_n(line.data(), line.size(), "aqueduct: [rank {}] {}: ", rank, word);
    const std::size_t end = text_of(head.size);
    line[end] = '\n';
    static_cast<void>(::write(STDERR_FILENO, line.data(), end + 1));
  } catch (...) {
    // As above.
  }
}

}  // namespace aqueduct::core
