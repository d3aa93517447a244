#pragma once

#include <aqueduct/config.hpp>

#include "core/network.hpp"

#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::smp {

/// A core::Process for testing parts of the conduit alone. It keeps what was logged.
struct TestProcess {
  explicit TestProcess(const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    for (const auto& [name, value] : settings) static_cast<void>(config.set(name, value));
    process.config = &config;
    process.log = &log;
    process.job = 4711;
    process.ranks = 2;
    process.mine = {0};
    process.host = {0, 0};
  }

  std::string said;
  int warnings = 0;
  Config config;
  core::Log log{core::LogLevel::debug, [this](core::LogLevel level, std::string_view line) {
                  said.append(line) += '\n';
                  if (level == core::LogLevel::warn) ++warnings;
                }};
  core::Process process;
};

}  // namespace aqueduct::conduits::smp
