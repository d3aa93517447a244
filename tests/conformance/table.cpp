#include "tests/conformance/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace aqueduct::conformance {

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

void Table::OnTestEnd(const testing::TestInfo& test) {
  // GoogleTest names parametrized cases "On/Put" and "IsVisible/loop_bare".
  std::string suite = test.test_suite_name();
  suite.erase(0, suite.rfind('/') + 1);
  std::string fabric = test.name();
  fabric.erase(0, fabric.rfind('/') + 1);
  std::ranges::replace(fabric, '_', '-');
  add_once(suites_, suite);
  add_once(fabrics_, fabric);
  Counts& counts = cells_[{suite, fabric}];
  const auto one = test.result()->Failed()    ? &Counts::failed
                   : test.result()->Skipped() ? &Counts::skipped
                                              : &Counts::passed;
  ++(counts.*one);
  ++(total_.*one);
}

std::string Table::cell(const Counts& counts) {
  std::string out;
  if (counts.passed > 0) out += fmt::format("{}", counts.passed);
  if (counts.skipped > 0) out += fmt::format(" {}~", counts.skipped);
  if (counts.failed > 0) out += fmt::format(" {}!", counts.failed);
  return out;
}

std::string Table::text() const {
  std::size_t widest = 0;
  for (const std::string& suite : suites_) widest = std::max(widest, suite.size());
  std::string out = fmt::format("\n{:{}}", "", widest);
  for (std::size_t i = 1; i <= fabrics_.size(); ++i) out += fmt::format("{:>9}", i);
  for (const std::string& suite : suites_) {
    out += fmt::format("\n{:{}}", suite, widest);
    for (const std::string& fabric : fabrics_) {
      const auto found = cells_.find({suite, fabric});
      out += fmt::format("{:>9}", found == cells_.end() ? "" : cell(found->second));
    }
  }
  out += "\n\n";
  for (std::size_t i = 0; i < fabrics_.size(); ++i) out += fmt::format("{:>3} {}\n", i + 1, fabrics_[i]);
  return out + fmt::format("    ~ skipped, ! failed\n{} passed, {} failed, {} skipped\n", total_.passed,
                           total_.failed, total_.skipped);
}

}  // namespace aqueduct::conformance
