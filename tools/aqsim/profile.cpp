#include "tools/aqsim/profile.hpp"

#include "core/network_profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

coll::LogGP link_of(const NetworkCost& cost) {
  const auto time = [](Picoseconds value) { return static_cast<coll::Picoseconds>(value.count()); };
  // A measured latency may be 0: what a copy does, its caller's processor has done.
  return {std::max<coll::Picoseconds>(1, time(cost.latency)), time(cost.overhead), time(cost.gap),
          cost.femtoseconds_per_byte};
}

/// The conduit that the file says it is of; empty if it says none.
std::string conduit_in(std::string_view text) {
  const auto root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("conduit") || !root.at("conduit").is_string()) return {};
  return root.at("conduit").get<std::string>();
}

/// What shared processors cost (convention 12), from messages between two ranks on one processor. But for o, these take what their
/// receiver does, and the turns of those that wait. Earlier profiles do not tell these two apart.
void share_processors(coll::Machine& machine, const core::NetworkProfile& profile,
                      const NetworkModel& usual) {
  const NetworkModel* const shared = profile.find("core");
  if (shared == nullptr || shared->at(0).latency <= usual.at(0).latency) return;
  const auto way = static_cast<coll::Picoseconds>(shared->at(0).latency.count());
  const auto turn = static_cast<coll::Picoseconds>(shared->turn.count());
  machine.turn = turn != 0 ? std::min(turn, way) : way;
  machine.receive = way - machine.turn;
}

coll::Machine::Level level_of(const NetworkModel& model, Rank group) {
  coll::Machine::Level level{.group = group, .link = link_of(model.at(0))};
  for (const NetworkCost& cost : model.costs().subspan(1))
    level.longer.push_back({cost.bytes, link_of(cost)});
  return level;
}

constexpr Rank kAllRanks = 1U << 28;

/// Gives the machine the levels that these hosts use: inside a host, between hosts, or both.
void use_levels(coll::Machine& machine, const NetworkModel* inside, const NetworkModel* between,
                const sim::HostList& hosts, const std::string& file) {
  const Rank most = *std::max_element(hosts.sizes.begin(), hosts.sizes.end());
  const bool misses_inside = most > 1 && inside == nullptr;
  const bool misses_between = hosts.sizes.size() > 1 && between == nullptr;
  if (misses_inside || misses_between) {
    throw BadInput(
        fmt::format("{}: {} has no level {}; run `aqperf calibrate --profile {}` with two ranks {}, or give "
                    "a network file "
                    "with both levels (--network)",
                    hosts.argument, file, misses_inside ? "inside a host" : "between hosts", file,
                    misses_inside ? "on one host" : "on two hosts"));
  }
  machine.levels.clear();
  if (inside != nullptr) machine.levels.push_back(level_of(*inside, most));
  if (between != nullptr) machine.levels.push_back(level_of(*between, kAllRanks));
  if (machine.levels.size() == 1) machine.levels.front().group = kAllRanks;
  sim::place_on_hosts(machine, hosts.host_of(), most);
}

}  // namespace

sim::Network network_of_profile(std::string_view text, const std::string& file, const sim::HostList& hosts) {
  const std::string conduit = conduit_in(text);
  const core::ProfileRead read = core::read_profile(text, core::machine_name(), conduit);
  if (!read.problem.empty()) throw BadInput(fmt::format("{}: {}", file, read.problem));
  const NetworkModel* const inside = read.profile.between(/*same_host=*/true);
  const NetworkModel* const between = read.profile.between(/*same_host=*/false);
  const NetworkModel* const model = inside != nullptr ? inside : between;
  if (model == nullptr)
    throw BadInput(fmt::format("{}: no level was measured; run `aqperf calibrate`", file));
  sim::Network out;
  out.name = file;
  coll::Machine& machine = out.machine;
  machine.levels = {level_of(*model, kAllRanks)};
  machine.copy_femtoseconds_per_byte = model->copy_femtoseconds_per_byte;
  machine.reduce_femtoseconds_per_byte = model->reduce_femtoseconds_per_byte;
  const bool mapped = conduit == "smp";
  machine.strided = mapped ? coll::Strided::whole : coll::Strided::pieces;
  machine.gets = mapped ? coll::Gets::reads : coll::Gets::messages;
  machine.host = inside != nullptr ? kAllRanks : 1;
  share_processors(machine, read.profile, *model);
  if (hosts.given()) use_levels(machine, inside, between, hosts, file);
  return out;
}

sim::Network load_profile(const std::string& file, const sim::HostList& hosts) {
  std::error_code ignored;
  // Of a pipe or a device a read may never end.
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    throw BadInput(fmt::format("--profile {}: it is no file", file));
  std::ifstream in(file);
  if (!in) throw BadInput(fmt::format("--profile {}: it cannot be read", file));
  std::stringstream text;
  text << in.rdbuf();
  return network_of_profile(text.str(), file, hosts);
}

}  // namespace aqueduct::aqsim
