// Searches that a model guides, and teams that choose for themselves.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace aqueduct::aqsim {

namespace {

struct Guided {
  double alone = 0;        ///< what the model chooses, against the best
  std::size_t needed = 0;  ///< how many of its first must be tried for the best
  std::size_t all = 0;
  double spent = 0;  ///< the time of these trials, of that of all
};
/// A search that tries candidates in the order of a model: the closed forms, on the replay's times.
Guided guided(const std::vector<std::pair<double, double>>& modelled_and_real) {
  auto order = modelled_and_real;
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Guided out;
  out.all = order.size();
  double best = order.front().second;
  double total = 0;
  for (const auto& [model, real] : order) {
    best = std::min(best, real);
    total += real;
  }
  out.alone = order.front().second / best;
  double spent = 0;
  for (const auto& [model, real] : order) {
    spent += real;
    ++out.needed;
    if (real == best) break;
  }
  out.spent = spent / total;
  return out;
}
Finding guided_broadcast() {
  std::vector<std::pair<double, double>> candidates;
  const Setup setup{.ranks = 256, .bytes = 8};
  for (std::uint32_t k : {2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U}) {
    std::uint32_t levels = 0;
    for (std::uint64_t reach = 1; reach < setup.ranks; reach *= k) ++levels;
    const double model =
        levels * (2.0 + 0.5 + k * 2.0 + k * 1e-3 * static_cast<double>(setup.bytes));  // F-03
    candidates.emplace_back(model, time_of(coll::kBroadcastKAry, k, setup));
    candidates.emplace_back(model, time_of(coll::kBroadcastKNomial, k, setup));
  }
  const Guided out = guided(candidates);
  return {"R-43",
          "broadcast of 8 B, search guided by the closed form: its first, trials for the best, time",
          "1.28 x, 40 % of all, 25 % of the time",
          fmt::format("{:.2f} x, {} of {}, {:.0f} % of the time", out.alone, out.needed, out.all,
                      out.spent * 100),
          out.alone < 1.43 && out.spent < 0.3,
          ""};
}
Finding guided_exchange() {
  std::vector<std::pair<double, double>> candidates;
  const Setup setup{.ranks = 256, .bytes = 8 * 16};
  for (std::uint32_t k : {2U, 4U, 8U, 16U, 32U, 64U, 256U}) {
    double model = 0;
    for (std::uint64_t reach = 1; reach < setup.ranks; reach *= k) {
      const double peers = std::min<double>(k, std::ceil(256.0 / static_cast<double>(reach))) - 1;
      model += 2.0 + peers * (0.5 + 2.0 + 1e-3 * 8 * 256 * 16 / k);  // F-05
    }
    candidates.emplace_back(
        model, k == 256 ? time_of(coll::kAllToAllDirect, 0, setup) : time_of(coll::kAllToAllBruck, k, setup));
  }
  const Guided out = guided(candidates);
  return {"R-45",
          "exchange of 8 B, search guided by the closed form: its first, trials for the best, time",
          "1.25 x, 3 trials",
          fmt::format("{:.2f} x, {} of {}, {:.0f} % of the time", out.alone, out.needed, out.all,
                      out.spent * 100),
          out.needed <= 3,
          ""};
}
Finding teams() {
  // 16 x 16 ranks, 16 on a node with one card: when all columns broadcast, a card sends for 16.
  coll::LogGP shared = sun();
  shared.gap *= 16;
  shared.femtoseconds_per_byte *= 16;
  const Setup column{
      .ranks = 16, .bytes = 8, .link = shared, .sync = coll::Sync::none, .times = 16, .in_flight = true};
  const double two = time_of(coll::kBroadcastKAry, 2, column);
  const double four = time_of(coll::kBroadcastKNomial, 4, column);
  const double eight = time_of(coll::kBroadcastKAry, 8, column);
  return {"R-46",
          "16 columns of 16 broadcast 8 B over shared cards: 4-nomial and 8-ary against 2-ary",
          "2.42 x, 4.34 x",
          fmt::format("{:.2f} x, {:.2f} x", four / two, eight / two),
          four / two > 1.5 && eight / two > four / two * 0.99,
          "Cards alone limit it here, so the factors are the ratios of children: 6, 8 and 2 at the root"};
}

}  // namespace

std::vector<Finding> search_curves() { return {guided_broadcast(), guided_exchange(), teams()}; }

}  // namespace aqueduct::aqsim
