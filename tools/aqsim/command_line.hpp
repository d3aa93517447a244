#pragma once

#include "tools/aqsim/options.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace aqueduct::aqsim {

/// The command line, as it is parsed: what is not read into Options yet.
struct CommandLine {
  bool networks = false;
  std::string ranks;
  std::string bytes;
  std::string counts;
  std::string sync;
  std::string noise;
  std::string hosts;
  std::string tree;

  /// Adds all options to the parser, which keeps references to this and to `options`.
  void add_to(CLI::App& app, Options& options);
  /// Reads what has been parsed into `options`. Errors: sim::BadInput.
  void read_into(Options& options) const;
};

}  // namespace aqueduct::aqsim
