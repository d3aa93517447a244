// What a search has chosen, beside all that it could have chosen.

#include "coll/tune/regret.hpp"
#include "coll/tuning_run.hpp"
#include "core/entry.hpp"

#include <algorithm>
#include <limits>

namespace aqueduct::coll {

namespace {

/// Candidates that take turns with the choice: each is a plan with memory of its own. Chosen.
constexpr std::size_t kInOneHeat = 8;

}  // namespace

// All heats have the choice, so what disturbs the machine for a while disturbs what it is compared with.
Status TuningRun::compare_with_all(const Field& searched, const Timed& chosen, Tuned& tuned) {
  const auto before = elapsed();
  const std::uint64_t agreed = elapsed_;
  std::vector<Timed> all;
  {
    const core::Entry entry(state_);
    all = engine_.worth_measuring(searched.call.key, searched.call.shape,
                                  std::numeric_limits<std::size_t>::max());
  }
  std::erase_if(all, [&](const Timed& one) {
    return one.algorithm == chosen.algorithm && one.wanted == chosen.wanted;
  });
  for (std::size_t first = 0; first == 0 || first < all.size(); first += kInOneHeat) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kInOneHeat, all.size()));
    Field field{searched.call, {chosen, chosen}, {}, searched.in_a_row};
    field.algorithms.insert(field.algorithms.end(), begin, end);
    if (const Status status = compare_in_one_heat(chosen, field, tuned); !status) return status;
  }
  // The search keeps its time.
  begin_ += elapsed() - before;
  elapsed_ = agreed;
  return {};
}

Status TuningRun::compare_in_one_heat(const Timed& chosen, Field& field, Tuned& tuned) {
  if (field.call.key.operation != Operation::barrier) {
    if (const Status status = bind_all(field); !status) return status;
  }
  const auto is_choice = [&](std::size_t i) {
    return i < field.algorithms.size() && field.algorithms[i] == chosen;
  };
  if (!is_choice(0) || !is_choice(1)) return end_plans(field);  // it cannot do the call any more
  std::vector<std::size_t> who(field.algorithms.size());
  for (std::size_t i = 0; i < who.size(); ++i) who[i] = i;
  if (const Status status = set_rows(field); !status) return status;
  const auto samples = measure(field, who, options_.exhaustive);
  if (!samples) return samples.status();
  if (const Status status = end_plans(field); !status) return status;
  const Regret found = regret_of(*samples);
  tuned.compared += static_cast<std::uint32_t>(who.size() - 2);
  tuned.noise = std::max(tuned.noise, found.noise);
  if (found.best < who.size() - 2 && found.regret > tuned.regret) {
    tuned.regret = found.regret;
    tuned.fastest = name_of(field.algorithms[2 + found.best]);
  }
  return {};
}

}  // namespace aqueduct::coll
