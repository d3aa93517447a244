#pragma once

// Jobs in which settings ask for the algorithm of each collective operation.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conformance {

inline constexpr std::size_t kForcedOperations = static_cast<std::size_t>(Collective::exscan) + 1;

/// An algorithm with values of its parameters. 0: not named in the setting.
struct ForcedChoice {
  const coll::Algorithm* algorithm = nullptr;  ///< null: the operation has no more; `auto`
  std::array<std::uint32_t, 3> parameters{};

  std::string setting() const {
    std::string text(algorithm->name);
    char mark = ':';
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
      if (parameters[i] == 0) continue;
      text += mark + std::string(algorithm->parameters[i].name) + '=' + std::to_string(parameters[i]);
      mark = ',';
    }
    return text;
  }
  /// More segments than the counters of a small bank: then the call may be refused for that.
  bool may_lack_counters() const {
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
      if (algorithm->parameters[i].name == "segments" && parameters[i] > 7) return true;
    }
    return false;
  }
};

/// The choice of each operation: [operation].
struct ForcedJob {
  std::array<ForcedChoice, kForcedOperations> choices;

  const ForcedChoice& of(Collective operation) const { return choices[static_cast<std::size_t>(operation)]; }
  bool goes_by_hosts(Collective operation) const {
    return of(operation).algorithm != nullptr && of(operation).algorithm->hosts;
  }
  Settings settings() const {
    Settings all;
    for (const SettingInfo& info : coll::algorithm_settings()) {
      if (coll::has_counts(coll::operation_of(info))) continue;       // collective_v_test.cpp
      if (coll::operation_of(info) == Collective::barrier) continue;  // barrier_algorithm_test.cpp
      const ForcedChoice& choice = of(coll::operation_of(info));
      if (choice.algorithm != nullptr) all.emplace_back(info.name, choice.setting());
    }
    return all;
  }
};

/// Deals the choices of all operations out to as few jobs as can have them all. `awkward`: with unusual values of parameters.
std::vector<ForcedJob> forced_jobs(std::span<const coll::Algorithm* const> algorithms, Rank ranks,
                                   bool awkward);

}  // namespace aqueduct::conformance
