// Tables F-T1 (closed forms) and F-T2 (replay of trees) of the requirements, number by number.

#include "coll/algorithms/algorithms.hpp"
#include "sim/closed_forms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace aqueduct::aqsim {

namespace {

constexpr std::array<std::uint32_t, 8> kRadices{2, 4, 8, 16, 32, 64, 128, 256};

using Form = double (sim::ClosedForms::*)(std::uint32_t, double) const noexcept;
struct FormRow {
  Form form;
  double bytes;
  std::array<double, 8> source;  // by radix
};
const std::array<FormRow, 10> kForms{{
    {&sim::ClosedForms::scatter, 8, {68.3, 52.9, 64.8, 77.7, 141.4, 269.3, 525.2, 522.7}},
    {&sim::ClosedForms::scatter, 128, {313.1, 216.1, 204.7, 208.3, 267.8, 393.6, 648.6, 645.6}},
    {&sim::ClosedForms::scatter, 1024, {2141.0, 1434.6, 1249.2, 1183.1, 1211.2, 1322.1, 1569.7, 1563.1}},
    {&sim::ClosedForms::scatter, 8192, {16764, 11183, 9605, 8982, 8758, 8750, 8939, 8903}},
    {&sim::ClosedForms::broadcast, 8, {52.1, 42.1, 55.7, 69.3, 133.5, 262.0, 519.0, 516.5}},
    {&sim::ClosedForms::broadcast, 1024, {68.4, 58.4, 80.1, 101.8, 198.5, 392.1, 779.1, 776.6}},
    {&sim::ClosedForms::broadcast, 8192, {183.1, 173.1, 252.1, 331.1, 657.3, 1309.6, 2614.2, 2611.7}},
    {&sim::ClosedForms::exchange, 8, {167.1, 136.3, 118.1, 140.4, 137.9, 202.8, 356.8, 672.1}},
    {&sim::ClosedForms::exchange, 64, {1084.6, 824.4, 605.6, 570.5, 410.3, 439.3, 586.1, 900.6}},
    {&sim::ClosedForms::exchange, 1024, {16813, 12621, 8961, 7943, 5080, 4494, 4518, 4817}},
}};

/// Counts numbers, and those that differ.
struct Tally {
  int all = 0;
  int differ = 0;
  void add(bool equal) {
    ++all;
    differ += equal ? 0 : 1;
  }
  Finding as(const char* id, const char* what, const char* how) const {
    return {
        id,          what, fmt::format("{} numbers", all), fmt::format("{} of them {}", all - differ, how),
        differ == 0, ""};
  }
};
bool to_three_digits(double ours, double source) { return std::abs(ours - source) <= source * 0.5e-2; }
bool to_a_tenth(double ours, double source) { return std::round(ours * 10) == std::round(source * 10); }

Finding closed_forms() {
  const sim::ClosedForms forms;
  Tally tally;
  for (const FormRow& row : kForms) {
    for (std::size_t i = 0; i < kRadices.size(); ++i)
      tally.add(to_three_digits((forms.*row.form)(kRadices[i], row.bytes), row.source[i]));
  }
  const std::array<std::array<double, 3>, 3> gathers{
      {{8, 44.2, 647.7}, {1024, 1084.6, 1684.0}, {16384, 16813, 17351}}};
  for (const auto& [bytes, dissemination, flat] : gathers) {
    tally.add(to_three_digits(forms.gather_to_all(bytes), dissemination));
    tally.add(to_three_digits(forms.gather_to_all_flat(bytes), flat));
  }
  return tally.as("F-T1", "closed forms F-01 to F-07: scatter, broadcast, exchange, gather-to-all",
                  "to three digits");
}

struct TreeRow {
  Rank ranks;
  std::uint64_t bytes;
  std::array<double, 9> source;  // k-ary 2, 4, 8, 16; k-nomial likewise; flat
};
constexpr std::array<TreeRow, 4> kTrees{{
    {16, 8, {19.5, 17.0, 21.1, 32.6, 18.0, 17.0, 21.1, 32.6, 32.6}},
    {64, 8, {32.6, 27.6, 33.1, 41.1, 27.0, 25.6, 33.1, 41.1, 129.0}},
    {256, 8, {45.6, 38.1, 43.6, 65.2, 36.1, 34.1, 41.6, 65.2, 514.5}},
    {256, 8192, {160.2, 152.7, 191.0, 310.8, 101.5, 132.3, 180.8, 310.8, 2601.5}},
}};

Finding replayed_trees() {
  Tally tally;
  for (const TreeRow& row : kTrees) {
    const Setup setup{.ranks = row.ranks, .bytes = row.bytes};
    for (std::size_t i = 0; i < 4; ++i) {
      tally.add(to_a_tenth(time_of(coll::kBroadcastKAry, kRadices[i], setup), row.source[i]));
      tally.add(to_a_tenth(time_of(coll::kBroadcastKNomial, kRadices[i], setup), row.source[i + 4]));
    }
    tally.add(to_a_tenth(time_of(coll::kBroadcastFlat, 0, setup), row.source[8]));
  }
  const std::array<double, 5> scatter{44.2, 42.2, 49.7, 73.2, 520.7};  // k-nomial 2, 4, 8, 16; flat
  const Setup setup{.bytes = 8 * 4};
  for (std::size_t i = 0; i < 4; ++i)
    tally.add(to_a_tenth(time_of(coll::kScatterKNomial, kRadices[i], setup), scatter[i]));
  tally.add(to_a_tenth(time_of(coll::kScatterDirect, 0, setup), scatter[4]));
  return tally.as("F-T2", "replay of trees, F-08: broadcast of 8 B and 8 KiB, scatter of 8 B",
                  "equal to a tenth of a us");
}

}  // namespace

std::vector<Finding> form_curves() { return {closed_forms(), replayed_trees()}; }

}  // namespace aqueduct::aqsim
