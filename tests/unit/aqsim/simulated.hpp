#pragma once

#include "tools/aqsim/run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace aqueduct::aqsim {

/// The lines that a simulation prints, with Options::json.
inline std::vector<nlohmann::json> lines_of(const std::function<int()>& call) {
  testing::internal::CaptureStdout();
  const int status = call();
  std::fflush(stdout);
  std::istringstream text(testing::internal::GetCapturedStdout());
  EXPECT_EQ(status, 0);
  std::vector<nlohmann::json> out;
  for (std::string line; std::getline(text, line);) out.push_back(nlohmann::json::parse(line));
  return out;
}
inline std::vector<nlohmann::json> lines_of(const Options& options) {
  return lines_of([&] { return run(options); });
}

/// What a call says is wrong with what it was given.
inline std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const sim::BadInput& problem) {
    return problem.what();
  }
  return "nothing was wrong";
}

}  // namespace aqueduct::aqsim
