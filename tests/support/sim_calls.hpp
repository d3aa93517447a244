#pragma once

#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/conformance/collective.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Which calls are made over the conduit sim, and with which settings.

namespace aqueduct::coll::sim_times {

using conformance::CollectiveCall;
using conformance::CollPlace;

using Picoseconds = std::uint64_t;

/// One call of all members. `call.operation` may also be `barrier`, or one of those whose blocks may differ: then all have
/// the same length here, since a replay has one shape for all members.
struct SimCall {
  CollectiveCall call;
  Picoseconds most_late = 0;  ///< members call up to so much late, each in its way
};

/// When a member makes call number `number`, after the first that could.
inline Picoseconds lateness(const SimCall& made, std::size_t number, Rank member) noexcept {
  return made.most_late == 0 ? 0 : conformance::mix(number * 4099 + member) % made.most_late;
}

/// Settings of a job: name and value.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// "k-nomial:radix=3": with the values number `variant` of its parameters; 0: the usual ones.
inline std::string value_for(const Algorithm& algorithm, std::size_t variant) {
  std::string text(algorithm.name);
  static constexpr std::array<std::uint32_t, 3> kRadixes{3, 8, 2};
  static constexpr std::array<std::uint32_t, 3> kSegments{3, 2, 5};
  for (std::size_t i = 0; i < algorithm.parameters.size() && variant != 0; ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    const auto& values = parameter.name == "segments" ? kSegments : kRadixes;
    const std::uint32_t value = std::clamp(values[(variant - 1) % 3], parameter.least, parameter.most);
    text += (i == 0 ? ":" : ",") + std::string(parameter.name) + "=" + std::to_string(value);
  }
  return text;
}

/// The settings with which each operation uses its algorithm number `which`, if it has so many.
inline Settings forced(std::size_t which, std::size_t variant) {
  Settings settings;
  for (const Collective operation : conformance::kCollectives) {
    std::size_t number = 0;
    for (const Algorithm* algorithm : all_algorithms()) {
      if (algorithm->operation != operation || number++ != which) continue;
      settings.emplace_back("coll_" + std::string(operation_word(operation)), value_for(*algorithm, variant));
    }
  }
  return settings;
}

/// Calls of each operation that these settings name: with each pair of sync modes in turn, roots, buffers that all members
/// know and that they do not, elements in order or in any, and members that are late.
inline std::vector<SimCall> calls_for(Rank ranks, const std::vector<std::uint64_t>& counts,
                                      const Settings& given) {
  std::vector<SimCall> calls;
  std::size_t turn = given.size();
  for (const Collective operation : conformance::kCollectives) {
    const auto is_its = [&](const auto& one) {
      return one.first == "coll_" + std::string(operation_word(operation));
    };
    const auto its = std::find_if(given.begin(), given.end(), is_its);
    if (its == given.end()) continue;
    for (const std::uint64_t count : counts) {
      for (const CollPlace place : {CollPlace::on_all, CollPlace::heap}) {
        SimCall made;
        CollectiveCall& call = made.call;
        call.operation = operation;
        call.count = count;
        call.root = turn % 7 < 3 && conformance::has_root(operation) ? ranks - 1 : 0;
        call.place = place;
        call.form = conformance::CollForm::nb;
        call.options.in = conformance::kSyncs[turn % 3];
        call.options.out = conformance::kSyncs[turn / 3 % 3];
        if (turn % 4 == 3) call.options.order = ReduceOrder::exact;
        if (turn % 2 == 1) made.most_late = 5'000'011;
        calls.push_back(made);
        turn += 5;  // prime to 9, 7 and 4
      }
    }
    // In the mode that it is for, and again when the scratch knows who sends to whom.
    if (its->second == "behind-barrier") {
      SimCall made;
      made.call.operation = operation;
      made.call.count = counts.back();
      made.call.place = CollPlace::on_all;
      made.call.form = conformance::CollForm::nb;
      made.call.options.in = made.call.options.out = Sync::mine;
      calls.insert(calls.end(), 3, made);
    }
  }
  return calls;
}

/// Of the operations whose blocks may differ: what the library chooses, and each algorithm by name.
inline std::vector<Settings> forced_blocks() {
  return {{},
          {{"coll_all_gather_v", "slots"}, {"coll_all_to_all_v", "pairwise"}},
          {{"coll_all_gather_v", "circulant"}, {"coll_all_to_all_v", "pairwise:window=3"}},
          {{"coll_all_gather_v", "ring"}}};
}

/// Barriers, and the operations whose blocks may differ.
inline std::vector<SimCall> calls_without_choice(Rank ranks, const std::vector<std::uint64_t>& counts) {
  std::vector<SimCall> calls;
  for (const Collective operation :
       {Collective::barrier, Collective::permute, Collective::scatter_v, Collective::gather_v,
        Collective::all_gather_v, Collective::all_to_all_v}) {
    for (const std::uint64_t count : counts) {
      SimCall made;
      made.call.operation = operation;
      made.call.count = count;
      if (has_root(operation)) made.call.root = static_cast<Rank>(count % ranks);
      made.call.options.out = conformance::kSyncs[calls.size() % 3];
      if (calls.size() % 2 == 1) made.most_late = 5'000'011;
      calls.push_back(made);
    }
  }
  return calls;
}

/// Every algorithm that a call can have. Not among them:
/// - those of a board: they are carried out in memory that all members have mapped, where nothing is a message;
/// - `native` ones: the conduit carries them out, and sim has none;
/// - `hosts`: all ranks of the conduit are on one host, where it is refused. With pretended hosts it is compared for itself;
/// - `team-tree`: it needs a tree of the team, with which it is compared for itself;
/// - those of the operation barrier: programs' barriers are all-reduces of their members' votes, which are compared as
///   "barrier". The dissemination is that of the passes for Sync::all, which are compared with every other operation.
inline std::set<std::string> all_names() {
  std::set<std::string> names{"barrier"};
  for (const Algorithm* one : all_algorithms()) {
    if (one->operation != Collective::barrier && !one->hosts && !one->team_tree)
      names.insert(std::string(operation_word(one->operation)) + " " + std::string(one->name));
  }
  return names;
}

}  // namespace aqueduct::coll::sim_times
