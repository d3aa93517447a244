#include "core/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

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
    const std::string text = fmt::vformat(format, args);
    const std::lock_guard lock(impl_->turn);
    if (impl_->sink) {
      impl_->sink(level, text);
      return;
    }
    if (!impl_->logger) impl_->logger = make_logger();
    const std::string whose = impl_->rank == kNoRank ? "" : fmt::format("[rank {}] ", impl_->rank);
    const std::string_view word = kWords[static_cast<std::size_t>(level)];
    impl_->logger->log(to_spdlog(level), fmt::format("aqueduct: {}{}: {}", whose, word, text));
  } catch (...) {
    // There is no memory for a line of text. That must not end the program, and there is no other place to report it.
  }
}

}  // namespace aqueduct::core
