#pragma once

#include "tests/unit/aqsim/simulated.hpp"
#include "tools/aqsim/run.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace aqueduct::aqsim {

inline Options hosts_options(const std::string& operation, const std::string& hosts,
                             const std::string& algorithm = "auto") {
  Options options;
  options.operation = operation;
  options.network = "two-level";
  options.algorithm = algorithm;
  options.json = true;
  if (!hosts.empty()) read_hosts(hosts, options);
  return options;
}
inline nlohmann::json hosts_line(const Options& options) { return lines_of(options).at(0); }

}  // namespace aqueduct::aqsim
