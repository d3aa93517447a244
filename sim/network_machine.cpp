// What a network file says of messages between ranks and of processors.

#include "sim/network_reader.hpp"

namespace aqueduct::sim {

namespace {

using nlohmann::json;

/// What is not there is as in `usual`.
coll::LogGP read_link(NetworkReader& reader, const coll::LogGP& usual) {
  const auto us = [](coll::Picoseconds time) { return static_cast<double>(time) / 1e6; };
  coll::LogGP link;
  link.latency = reader.time("latency_us", us(usual.latency));
  link.overhead = reader.time("overhead_us", us(usual.overhead));
  link.gap = reader.time("gap_us", us(usual.gap));
  link.femtoseconds_per_byte =
      reader.per_byte("ns_per_byte", static_cast<double>(usual.femtoseconds_per_byte) / 1e6);
  if (link.latency == 0) reader.wrong("latency_us", "is at least a picosecond (0.000001)");
  return link;
}

/// Rows for longer messages.
std::vector<coll::Machine::Longer> read_longer(NetworkReader& level, const std::string& where,
                                               const coll::LogGP& usual) {
  std::vector<coll::Machine::Longer> out;
  if (!level.has("longer")) return out;
  const json& rows = level.at("longer");
  if (!rows.is_array()) level.wrong("longer", "is a list of objects");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    NetworkReader row(rows[i], fmt::format("{}: longer[{}]", where, i));
    const std::uint32_t bytes = row.count("bytes", 0);
    if (bytes <= (i == 0 ? 0 : out.back().bytes))
      row.wrong("bytes",
                "is the smallest message to which the row applies: rows have rising ones, from 1 on");
    out.push_back({bytes, read_link(row, usual)});
    row.end();
  }
  return out;
}

coll::Machine::Level read_level(const json& value, const std::string& where, std::uint32_t inside,
                                bool last) {
  constexpr coll::LogGP kUsual{
      .latency = 1'000'000, .overhead = 300'000, .gap = 100'000, .femtoseconds_per_byte = 100'000};
  NetworkReader level(value, where);
  constexpr std::uint32_t kMostRanks = 1U << 28;
  // Left out at the last level, which joins all ranks whatever its number is: hosts may have 6 or 24.
  const std::uint32_t group = level.count("ranks", last ? kMostRanks / inside * inside : 0);
  if (group == 0 || group % inside != 0)
    level.wrong("ranks",
                fmt::format("is how many neighbouring ranks meet at this level: a multiple of {}", inside));
  coll::Machine::Level out{.group = group, .link = read_link(level, kUsual)};
  out.longer = read_longer(level, where, out.link);
  level.end();
  return out;
}

}  // namespace

coll::Machine read_machine(NetworkReader& reader, const std::string& name) {
  coll::Machine machine;
  const json& levels = reader.at("levels");
  if (!levels.is_array() || levels.empty()) reader.wrong("levels", "is a list of at least one object");
  machine.levels.clear();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::uint32_t inside = i == 0 ? 1 : machine.levels.back().group;
    machine.levels.push_back(read_level(levels[i], fmt::format("{}: levels[{}]", name, i), inside,
                                        /*last=*/i + 1 == levels.size()));
    if (reader.has("topology") && !machine.levels.back().longer.empty())
      reader.wrong("topology", "shares links among messages of all sizes: no level may have 'longer' ones");
  }
  machine.copy_femtoseconds_per_byte = reader.per_byte("copy_ns_per_byte", 0);
  machine.reduce_femtoseconds_per_byte = reader.per_byte("reduce_ns_per_byte", 0);
  const std::string strided = reader.word("strided", "whole");
  if (strided != "whole" && strided != "pieces") reader.wrong("strided", "is whole or pieces");
  const std::string gets = reader.word("gets", "messages");
  if (gets != "messages" && gets != "reads") reader.wrong("gets", "is messages or reads");
  machine.gets = gets == "reads" ? coll::Gets::reads : coll::Gets::messages;
  machine.strided = strided == "whole" ? coll::Strided::whole : coll::Strided::pieces;
  machine.cores = reader.count("cores", 0);
  machine.turn = reader.time("turn_us", 0);
  machine.receive = reader.time("receive_us", 0);
  return machine;
}

}  // namespace aqueduct::sim
