#include "runtime/job_tuning.hpp"

#include "coll/tune/tuning_file.hpp"
#include "coll/tune/tuning_table.hpp"
#include "core/network_profile.hpp"

#include <optional>
#include <string>

namespace aqueduct::runtime {

namespace {

using aqueduct::detail::EndpointState;
using coll::Decision;
using coll::TeamKind;
using coll::TuningTable;

/// A rank other than 0 that shares rank 0's host, or does not.
std::optional<Rank> some_rank(const EndpointState& state, bool same_host) {
  for (Rank rank = 1; rank < state.ranks; ++rank) {
    if ((state.host_of[rank] == state.host_of[0]) == same_host) return rank;
  }
  return std::nullopt;
}

/// The decisions of a conduit's file that are about teams which this conduit serves.
void add_decisions(EndpointState& state, const std::string& named, Rank peer, bool near,
                   std::vector<Decision>& out) {
  const coll::TuningPlace place{coll::machine_kind(), state.conduit_of[peer]->properties().name};
  const coll::TuningRead read = coll::load_tuning(named, place);
  const std::string file = coll::tuning_file(named, place);
  if (!read.problem.empty()) {
    state.log.warn("AQUEDUCT_COLL_TUNING: {}: {}. Until then the model or the rules choose algorithms", file,
                   read.problem);
  } else if (read.unknown != 0) {
    state.log.warn(
        "AQUEDUCT_COLL_TUNING: {}: {} of its entries are damaged, or name algorithms that this library does "
        "not have: they are left out",
        file, read.unknown);
  }
  for (const Decision& one : read.decisions) {
    if ((one.key.kind != TeamKind::network) == near) out.push_back(one);
  }
}

}  // namespace

std::vector<std::uint64_t> job_tuning(EndpointState& rank_0) {
  const std::string choice = rank_0.config.text("coll_choice");
  if (choice == "rules") return TuningTable().words();
  TuningTable::Models models;
  std::vector<Decision> decisions;
  const std::string named = rank_0.config.text("coll_tuning");
  const bool reads = !named.empty() && choice == "auto";
  for (const bool near : {true, false}) {
    const auto peer = some_rank(rank_0, near);
    if (!peer) continue;
    (near ? models.host : models.network) = core::network_model_of(rank_0, *peer);
    if (reads) add_decisions(rank_0, named, *peer, near, decisions);
  }
  return TuningTable(models, decisions).words();
}

}  // namespace aqueduct::runtime
