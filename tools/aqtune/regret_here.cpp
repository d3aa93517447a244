#include "tools/aqtune/regret_here.hpp"

#include "coll/tune/operation_word.hpp"

#include <fmt/format.h>

namespace aqueduct::aqtune {

namespace {

/// What counts as equally fast, and as too much noise to tell. Chosen: issue 21.
constexpr double kGood = 0.05;

std::string list_of(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += fmt::format("  {}\n", key);
  return text;
}

double percent_of(std::size_t part, std::size_t all) noexcept {
  return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

std::string regret_words(const Tuned& one) {
  if (one.compared == 0) return "nothing else can do it";
  if (one.fastest.empty())
    return fmt::format("no other of {} was faster (noise {:.1f} %)", one.compared, one.noise * 100);
  return fmt::format("{:.1f} % slower than {} (noise {:.1f} %, {} others)", one.regret * 100, one.fastest,
                     one.noise * 100, one.compared);
}

void RegretHere::add(const Tuned& one) {
  const std::string key = fmt::format("{} of {} B: {}, {}", coll::operation_word(one.operation), one.bytes,
                                      one.algorithm, regret_words(one));
  if (one.noise > kGood) {
    undecided_.push_back(key);
    return;
  }
  ++judged_;
  if (one.regret <= kGood)
    ++good_;
  else
    slow_.push_back(key);
}

std::string RegretHere::summary() const {
  const std::size_t all = judged_ + undecided_.size();
  std::string text =
      fmt::format("{} keys; {} ({:.1f} %) cannot be judged, as their noise is above {:.0f} %\n", all,
                  undecided_.size(), percent_of(undecided_.size(), all), kGood * 100) +
      list_of(undecided_) +
      fmt::format("of the other {} the choice is within {:.0f} % of the fastest in {} ({:.1f} %)\n", judged_,
                  kGood * 100, good_, percent_of(good_, judged_));
  return text + list_of(slow_);
}

}  // namespace aqueduct::aqtune
