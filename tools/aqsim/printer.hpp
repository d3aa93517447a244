#pragma once

#include "sim/simulate.hpp"
#include "tools/aqsim/options.hpp"
#include "tools/aqsim/run.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::aqsim {

/// Prints a row for each simulation, as text or JSON, and collects what plots show.
class Printer {
 public:
  explicit Printer(const Options& options) : options_(options) {}

  void row(const Chosen& chosen, const sim::Network& network, const sim::Outcome& outcome);
  bool has_rows() const noexcept { return !lines_.empty(); }
  /// The plots of all rows: time against bytes, and against ranks, if there are several. Errors: BadInput.
  void plot() const;

 private:
  void json_row(const Chosen& chosen, const std::string& name, const sim::Network& network,
                const sim::Outcome& outcome) const;
  void text_row(const Chosen& chosen, const std::string& name, const sim::Network& network,
                const sim::Outcome& outcome);

  const Options& options_;
  bool header_ = false;
  std::map<std::string, std::vector<std::pair<coll::Shape, double>>> lines_;
};

}  // namespace aqueduct::aqsim
