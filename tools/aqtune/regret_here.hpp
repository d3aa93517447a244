#pragma once

#include <aqueduct/tune.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace aqueduct::aqtune {

/// What the choices cost on this machine, beside all that could have been chosen (--exhaustive).
class RegretHere {
 public:
  void add(const Tuned& one);
  /// Several lines: how many choices are within 5 % of the fastest algorithm, and which keys cannot be judged.
  std::string summary() const;

 private:
  std::size_t judged_ = 0;
  std::size_t good_ = 0;
  std::vector<std::string> slow_;       ///< more than 5 % slower than the fastest
  std::vector<std::string> undecided_;  ///< the choice differs from itself by more than 5 %
};

/// The end of a line about one key: "regret 3.1 % of tree:radix=4 (noise 0.4 %, 17 others)".
std::string regret_words(const Tuned& one);

}  // namespace aqueduct::aqtune
