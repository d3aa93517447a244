#pragma once

#include "tools/aqtune/options.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace aqueduct::aqtune {

/// The command line, as it is parsed: what is not read into Options yet.
struct CommandLine {
  std::string operations = "all";
  std::string bytes = "8:1M";
  std::string syncs = "all";
  std::string types = "f64";
  double noise = 0;

  /// Adds all options to the parser, which keeps references to this and to `options`.
  void add_to(CLI::App& app, Options& options);
  /// Reads what has been parsed into `options`. Errors: BadInput.
  void read_into(Options& options) const;
};

}  // namespace aqueduct::aqtune
