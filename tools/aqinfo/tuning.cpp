#include "tools/aqinfo/tuning.hpp"

#include "coll/tune/tuning_file.hpp"
#include "core/log.hpp"
#include "core/network_profile.hpp"

#include <string>
#include <vector>

namespace aqueduct::aqinfo {

coll::TuningTable tuning_here(const Config& config, Rank ranks) {
  const std::string choice = config.text("coll_choice");
  if (choice == "rules") return {};
  core::Log log(config, kNoRank);
  const std::string profile(config.text("network_profile"));
  const std::string tuning(config.text("coll_tuning"));
  coll::TuningTable::Models models;
  std::vector<coll::Decision> decisions;
  const auto add = [&](const std::string& conduit, bool one_host) {
    if (!profile.empty()) {
      const core::NetworkProfile read = core::load_profile(log, profile, conduit);
      if (const NetworkModel* const model = read.between(one_host))
        (one_host ? models.host : models.network) = *model;
    }
    if (tuning.empty() || choice != "auto") return;
    const coll::TuningPlace place{coll::machine_kind(), conduit};
    const coll::TuningRead read = coll::load_tuning(tuning, place);
    if (!read.problem.empty())
      log.warn("AQUEDUCT_COLL_TUNING: {}: {}", coll::tuning_file(tuning, place), read.problem);
    for (const coll::Decision& one : read.decisions) {
      if ((one.key.kind != coll::TeamKind::network) == one_host) decisions.push_back(one);
    }
  };
  const std::string conduit(config.text("conduit"));
  if (config.text("near") != "off")
    add("smp", true);
  else if (conduit != "auto")
    add(conduit, true);
  if (conduit != "auto") add(conduit, false);
  static_cast<void>(coll::leave_out_unlike(ranks, decisions));  // as such a job does
  return {models, decisions};
}

}  // namespace aqueduct::aqinfo
