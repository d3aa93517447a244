#include "runtime/job_tuning.hpp"

#include "coll/tune/tuning_file.hpp"
#include "coll/tune/tuning_table.hpp"
#include "core/network_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

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

/// The networks of those decisions which are of others than the place's: in words.
std::string other_networks(const coll::TuningRead& read, const coll::TuningPlace& place) {
  std::string text;
  for (const auto& [network, decisions] : read.by_network) {
    if (!network.empty() && network != place.network)
      text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", network);
  }
  return text;
}

/// The decisions of a conduit's file that are about teams which this conduit serves. Returns a warning; empty: none.
std::string add_decisions(const EndpointState& state, const std::string& named, Rank peer, bool near,
                          std::vector<Decision>& out) {
  const core::Properties& conduit = state.conduit_of[peer]->properties();
  const coll::TuningPlace place{coll::machine_kind(), conduit.name, conduit.network};
  const coll::TuningRead read =
      coll::load_tuning(named, place, aqueduct::detail::algorithms_of(state.config.added_algorithms()));
  for (const Decision& one : read.decisions) {
    if ((one.key.kind != TeamKind::network) == near) out.push_back(one);
  }
  const std::string file = coll::tuning_file(named, place);
  constexpr std::string_view kUntilThen = "Until then the model or the rules choose algorithms";
  if (!read.problem.empty()) return fmt::format("{}: {}. {}", file, read.problem, kUntilThen);
  if (read.decisions.empty() && !read.by_network.empty() && read.unknown == 0)
    return fmt::format(
        "{}: its decisions are of another network ({}, and this is \"{}\"); tune again with "
        "`aqtune`: the file can hold both. {}",
        file, other_networks(read, place), place.network, kUntilThen);
  if (read.unknown == 0) return {};
  return fmt::format(
      "{}: {} of its entries are damaged, or name algorithms that this library does not have: they are left "
      "out",
      file, read.unknown);
}

/// A warning, if the profile that is named has nothing about the conduit to the most distant ranks: a folder has no file of it,
/// or what was measured is of another network.
void tell_of_no_profile(EndpointState& rank_0) {
  const std::string named = rank_0.config.text("network_profile");
  const auto between_hosts = some_rank(rank_0, false);
  const auto peer = between_hosts ? between_hosts : some_rank(rank_0, true);
  if (!peer || named.empty()) return;
  const core::Properties& properties = rank_0.conduit_of[*peer]->properties();
  const std::string& conduit = properties.name;
  if (core::network_model_of(rank_0, *peer).origin != NetworkModel::Origin::defaults) return;
  if (const auto read = rank_0.profiles.find(conduit);
      read != rank_0.profiles.end() && read->second.is_of_another(!between_hosts)) {
    rank_0.log.warn(
        "AQUEDUCT_NETWORK_PROFILE: {}: what it says of conduit {} {} is of another network (\"{}\", and this "
        "is \"{}\"), so the defaults are used; measure again with `aqperf calibrate`, into a folder of its "
        "own",
        named, conduit, between_hosts ? "between hosts" : "on this host", read->second.other_network,
        properties.network);
    return;
  }
  if (!core::is_profile_folder(named) ||
      std::filesystem::exists(core::profile_file(named, conduit, !between_hosts)))
    return;
  rank_0.log.warn(
      "AQUEDUCT_NETWORK_PROFILE: {} has no profile of conduit {} {}, so its defaults are used; `aqperf "
      "calibrate --conduit {} --profile {}` writes it, with two ranks {}",
      named, conduit, between_hosts ? "between hosts of this kind" : "on this host", conduit, named,
      between_hosts ? "on two hosts" : "on one host");
}

}  // namespace

std::vector<std::uint64_t> job_tuning(EndpointState& rank_0) {
  const std::string choice = rank_0.config.text("coll_choice");
  if (choice == "rules") return TuningTable().words();
  TuningTable::Models models;
  std::vector<Decision> decisions;
  const std::string named = rank_0.config.text("coll_tuning");
  const bool reads = !named.empty() && choice == "auto";
  std::vector<std::string> warnings;
  std::size_t files = 0;
  for (const bool near : {true, false}) {
    const auto peer = some_rank(rank_0, near);
    if (!peer) continue;
    (near ? models.host : models.network) = core::network_model_of(rank_0, *peer);
    if (!reads) continue;
    ++files;
    if (std::string warning = add_decisions(rank_0, named, *peer, near, decisions); !warning.empty())
      warnings.push_back(std::move(warning));
  }
  tell_of_no_profile(rank_0);
  // A file that is named is of one conduit, and the job may have two.
  const bool is_of_the_other = warnings.size() < files && coll::tuning_file(named, {}) == named;
  const auto last = std::unique(warnings.begin(), warnings.end());
  for (auto one = warnings.begin(); one != last && !is_of_the_other; ++one)
    rank_0.log.warn("AQUEDUCT_COLL_TUNING: {}", *one);
  if (const std::size_t left_out = coll::leave_out_unlike(rank_0.ranks, decisions); left_out != 0)
    rank_0.log.warn(
        "AQUEDUCT_COLL_TUNING: {} decisions are left out, of the numbers of ranks least like this job's {}: "
        "a "
        "job takes {}. Tune the jobs of other sizes into another file",
        left_out, rank_0.ranks, TuningTable::kMostDecisions);
  return TuningTable(models, decisions).words();
}

void save_learned(EndpointState& rank, const coll::LearnedDecisions& learned,
                  std::chrono::milliseconds patience) {
  for (const std::string& problem :
       learned.save(rank.config.text("coll_tuning"), patience,
                    aqueduct::detail::algorithms_of(rank.config.added_algorithms())))
    rank.log.warn("AQUEDUCT_COLL_LEARN: what was learned is not saved: {}", problem);
}

}  // namespace aqueduct::runtime
