// How well the closed forms rank algorithms, judged by the replay.

#include "coll/algorithms/algorithms.hpp"
#include "sim/closed_forms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace aqueduct::aqsim {

namespace {

constexpr Rank kNodes = 256;
constexpr std::uint64_t kThreads = 4;  // on a node: a message carries their blocks

/// Candidates of an operation: what the closed form says, and what the replay takes.
using Candidates = std::vector<std::pair<double, double>>;

Candidates exchanges(std::uint64_t bytes, std::uint64_t threads) {
  sim::ClosedForms forms;
  forms.threads = static_cast<std::uint32_t>(threads);
  const Setup setup{.ranks = kNodes, .bytes = bytes * threads * threads};
  Candidates out;
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U, 32U, 64U}) {
    out.emplace_back(forms.exchange(radix, static_cast<double>(bytes)),
                     time_of(coll::kAllToAllBruck, radix, setup));
  }
  out.emplace_back(forms.exchange(kNodes, static_cast<double>(bytes)),
                   time_of(coll::kAllToAllDirect, 0, setup));
  return out;
}
Candidates scatters(std::uint64_t bytes) {
  const sim::ClosedForms forms;
  const Setup setup{.ranks = kNodes, .bytes = bytes * kThreads};
  Candidates out;
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U, 32U, 64U}) {
    out.emplace_back(forms.scatter(radix, static_cast<double>(bytes)),
                     time_of(coll::kScatterKNomial, radix, setup));
  }
  out.emplace_back(forms.scatter(kNodes, static_cast<double>(bytes)),
                   time_of(coll::kScatterDirect, 0, setup));
  return out;
}

/// How often the model's candidates must be tried, best first, until the fastest is among them.
std::size_t tries(Candidates candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto fastest = std::min_element(candidates.begin(), candidates.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return static_cast<std::size_t>(fastest - candidates.begin()) + 1;
}
/// What the model's first choice takes, as a multiple of the fastest.
double regret(const Candidates& candidates) {
  const auto chosen = std::min_element(candidates.begin(), candidates.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
  double best = chosen->second;
  for (const auto& one : candidates) best = std::min(best, one.second);
  return chosen->second / best;
}

Finding strict_and_loose() {
  const auto throughput = [](coll::Sync sync) {
    return time_of(coll::kBroadcastKNomial, 4, {.ranks = kNodes, .bytes = 4096, .sync = sync, .times = 16});
  };
  const double ratio = throughput(coll::Sync::all) / throughput(coll::Sync::none);
  return {"R-03",       "broadcasts of 4 KiB, one after the other: strict against loose",
          "loose best", fmt::format("strict takes {:.2f} times as long", ratio),
          ratio > 1,    ""};
}
Finding radices_of_broadcast() {
  const sim::ClosedForms forms;
  const double model = forms.broadcast(8, 8) / forms.broadcast(4, 8);
  const double replayed = time_of(coll::kBroadcastKAry, 8, {}) / time_of(coll::kBroadcastKAry, 4, {});
  return {"R-21",
          "broadcast of 8 B: 8-ary against 4-ary, model and replay",
          "within 20 %",
          fmt::format("{} in the model, {} in the replay", percent(model), percent(replayed)),
          model < 1.2 && replayed < 1.2,
          "The model counts whole rounds, of which 256 nodes need as many with radix 8 as with radix 7"};
}
Finding scatter_flat() {
  const double small = regret(scatters(8));
  const Setup large{.ranks = kNodes, .bytes = 8192 * kThreads};
  const double flat = time_of(coll::kScatterDirect, 0, large) / best_radix(coll::kScatterKNomial, large).us;
  return {"R-21",
          "scatter: the model's choice at 8 B; flat against the best tree at 8 KiB",
          "small: trees; large: flat",
          fmt::format("{:.2f} x the best; flat takes {:.2f} times as long", small, flat),
          small < 1.3 && flat < 1.1,
          "At 8 KiB the root's port is busy all the time, whichever tree: all are within a few percent"};
}
Finding exchange_of_many_threads() {
  const auto best = [](std::uint64_t bytes, std::uint64_t threads) {
    const Setup setup{.ranks = 128, .bytes = bytes * threads * threads, .link = cray()};
    const double flat = time_of(coll::kAllToAllDirect, 0, setup);
    return std::pair{flat <= best_radix(coll::kAllToAllBruck, setup).us,
                     best_radix(coll::kAllToAllBruck, setup).radix};
  };
  const auto [flat_4, radix_4] = best(8, 4);
  const Setup four{.ranks = 128, .bytes = 8 * 4 * 4, .link = cray()};
  const double eight = time_of(coll::kAllToAllBruck, 8, four) / best_radix(coll::kAllToAllBruck, four).us;
  const auto [flat_12, radix_12] = best(64, 12);
  return {"R-25",
          "exchange: 4 threads on a node at 8 B, 12 at 64 B",
          "4 threads: radix 4 or 8; 12: flat",
          fmt::format("{}, radix 8 is {} behind; {}", flat_4 ? "flat" : fmt::format("radix {}", radix_4),
                      percent(eight), flat_12 ? "flat" : fmt::format("radix {}", radix_12)),
          !flat_4 && (radix_4 == 4 || radix_4 == 8) && flat_12,
          "128 nodes have two digits with radix 16, and a third one with radix 8"};
}
Finding model_of_exchange() {
  const std::size_t small = tries(exchanges(8, kThreads));
  const std::size_t large = tries(exchanges(1024, kThreads));
  return {"R-27",
          "exchange: place of the fastest in the model's order, 8 B and 1 KiB",
          "in the first two; first",
          fmt::format("{}, {}", small, large),
          small <= 2 && large == 1,
          "The model lets a message of radix k carry a k-th of all blocks, also in the last round, which "
          "carries fewer"};
}
Finding guided_scatter() {
  const double alone = regret(scatters(128));
  return {"R-44",
          "scatter of 128 B: the model's first choice against the best",
          "within 10 % on two of three machines",
          fmt::format("{:.2f} x", alone),
          alone < 1.1,
          ""};
}

}  // namespace

std::vector<Finding> model_curves() {
  return {strict_and_loose(),         radices_of_broadcast(), scatter_flat(),
          exchange_of_many_threads(), model_of_exchange(),    guided_scatter()};
}

}  // namespace aqueduct::aqsim
