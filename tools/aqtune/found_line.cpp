#include "tools/aqtune/found_line.hpp"

#include "coll/tune/operation_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace aqueduct::aqtune {

namespace {

double in_us(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

/// "tree" of "tree:radix=8".
std::string_view algorithm_in(std::string_view name) noexcept { return name.substr(0, name.find(':')); }

std::string behind(const Tuned& found) {
  if (found.runner_up.empty()) return "nothing else was tried";
  const double us = in_us(found.runner_up_median);
  const std::string_view algorithm = algorithm_in(found.runner_up);
  if (algorithm != algorithm_in(found.algorithm))
    return fmt::format("then {} in {:.2f} us{}", found.runner_up, us, found.decided ? "" : " (undecided)");
  const std::string_view parameters =
      std::string_view(found.runner_up).substr(std::min(algorithm.size() + 1, found.runner_up.size()));
  return fmt::format("then {} with {} in {:.2f} us{}", algorithm, parameters, us,
                     found.decided ? "" : " (which parameters are faster is undecided)");
}

}  // namespace

std::string found_line(const Tuned& found) {
  return fmt::format("{:<15}{:>10} B  {:<34}{:>11.2f} us   {}", coll::operation_word(found.operation),
                     found.bytes, found.algorithm, in_us(found.median), behind(found));
}

}  // namespace aqueduct::aqtune
