#include "tools/aqsim/printer.hpp"

#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"
#include "sim/plot.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

double microseconds(coll::Picoseconds time) { return static_cast<double>(time) / 1e6; }
/// Messages in a second of real time.
double rate_of(const sim::Outcome& outcome) {
  return outcome.wall_seconds > 0 ? static_cast<double>(outcome.replayed.messages) / outcome.wall_seconds : 0;
}

struct Idle {
  double mean_us = 0;
  double most_us = 0;
  Rank rank = 0;
};
Idle idle_of(const coll::Replayed& replayed) {
  Idle out;
  const std::uint64_t members = std::max<std::size_t>(replayed.members.size(), 1);
  // In whole picoseconds, as sums of fractions are a little more or less than they should be. Parts, as the sum of all
  // may need more than 64 bits.
  coll::Picoseconds mean = 0;
  std::uint64_t rest = 0;
  coll::Picoseconds most = 0;
  for (Rank rank = 0; rank < replayed.members.size(); ++rank) {
    const coll::Picoseconds idle = replayed.members[rank].idle();
    mean += idle / members;
    rest += idle % members;
    if (idle > most) {
      most = idle;
      out.rank = rank;
    }
  }
  out.mean_us = microseconds(mean + (rest + members / 2) / members);
  out.most_us = microseconds(most);
  return out;
}

/// Whether there are several hosts, and some have several ranks: then the replay counts what goes between them.
bool has_hosts(Rank ranks, const sim::Network& network) {
  return network.machine.host > 1 && network.machine.hosts(ranks) > 1;
}

/// The links that have carried most, the busiest first.
std::vector<sim::Link> busiest(const std::vector<std::uint64_t>& bytes, std::size_t count) {
  std::vector<sim::Link> order(bytes.size());
  std::iota(order.begin(), order.end(), 0U);
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](sim::Link a, sim::Link b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
  order.resize(count);
  return order;
}

}  // namespace

void Printer::row(const Chosen& chosen, const sim::Network& network, const sim::Outcome& outcome) {
  const std::string name = coll::name_of(*chosen.algorithm, chosen.shape);
  lines_[name].push_back({chosen.shape, microseconds(outcome.replayed.time)});
  if (options_.json)
    json_row(chosen, name, network, outcome);
  else
    text_row(chosen, name, network, outcome);
}

void Printer::json_row(const Chosen& chosen, const std::string& name, const sim::Network& network,
                       const sim::Outcome& outcome) const {
  const double us = microseconds(outcome.replayed.time);
  const double rate = rate_of(outcome);
  const Idle idle = idle_of(outcome.replayed);
  nlohmann::json line{{"op", coll::operation_word(chosen.shape.operation)},
                      {"algorithm", name},
                      {"ranks", chosen.shape.ranks},
                      {"bytes", chosen.shape.bytes},
                      {"virtual_us", us},
                      {"messages", outcome.replayed.messages},
                      {"bytes_sent", outcome.replayed.bytes},
                      {"wall_s", outcome.wall_seconds},
                      {"messages_per_s", rate},
                      {"network", network.name},
                      {"method", sim::word_of(outcome.method)},
                      {"idle_mean_us", idle.mean_us},
                      {"idle_most_us", idle.most_us}};
  if (options_.counts.rule != Counts::Rule::none) line["counts"] = options_.counts.text;
  if (has_hosts(chosen.shape.ranks, network)) {
    line["hosts"] = network.machine.hosts(chosen.shape.ranks);
    line["messages_between_hosts"] = outcome.replayed.messages_between_hosts;
    line["bytes_between_hosts"] = outcome.replayed.bytes_between_hosts;
  }
  if (options_.idle) {
    nlohmann::json all = nlohmann::json::array();
    for (const coll::ReplayedMember& member : outcome.replayed.members)
      all.push_back(microseconds(member.idle()));
    line["idle_us"] = std::move(all);
  }
  if (!outcome.link_bytes.empty()) {
    line["hops"] = outcome.hops;
    line["links"] = nlohmann::json::array();
    for (const sim::Link link : busiest(outcome.link_bytes, std::max<std::uint32_t>(1, options_.links)))
      line["links"].push_back({{"link", link}, {"bytes", outcome.link_bytes[link]}});
  }
  // Names of files may be any bytes: those that are no UTF-8 are shown as U+FFFD.
  fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void Printer::text_row(const Chosen& chosen, const std::string& name, const sim::Network& network,
                       const sim::Outcome& outcome) {
  const double us = microseconds(outcome.replayed.time);
  const double rate = rate_of(outcome);
  const Idle idle = idle_of(outcome.replayed);
  if (!header_) {
    fmt::print("{:<34} {:>8} {:>10} {:>14} {:>12} {:>14} {:>9} {:>8}  {}\n", "algorithm", "ranks", "bytes",
               "time us", "messages", "bytes sent", "wall s", "M/s", "method");
    header_ = true;
  }
  fmt::print("{:<34} {:>8} {:>10} {:>14.3f} {:>12} {:>14} {:>9.4f} {:>8.1f}  {}\n", name, chosen.shape.ranks,
             chosen.shape.bytes, us, outcome.replayed.messages, outcome.replayed.bytes, outcome.wall_seconds,
             rate / 1e6, sim::word_of(outcome.method));
  if (has_hosts(chosen.shape.ranks, network)) {
    fmt::print("  between {} hosts: {} messages, {} bytes\n", network.machine.hosts(chosen.shape.ranks),
               outcome.replayed.messages_between_hosts, outcome.replayed.bytes_between_hosts);
  }
  if (options_.idle) {
    fmt::print("  idle: {:.3f} us on average, {:.3f} us at most (rank {})\n", idle.mean_us, idle.most_us,
               idle.rank);
  }
  for (const sim::Link link : busiest(outcome.link_bytes, options_.links))
    fmt::print("  link {}: {} bytes\n", link, outcome.link_bytes[link]);
}

void Printer::plot() const {
  std::map<std::string, sim::Series> by_bytes;
  std::map<std::string, sim::Series> by_ranks;
  for (const auto& [name, points] : lines_) {
    for (const auto& [shape, us] : points) {
      const std::string ranks = fmt::format("{}, {} ranks", name, shape.ranks);
      by_bytes[ranks].name = ranks;
      by_bytes[ranks].points.emplace_back(static_cast<double>(std::max<std::uint64_t>(1, shape.bytes)), us);
      const std::string bytes = fmt::format("{}, {} B", name, shape.bytes);
      by_ranks[bytes].name = bytes;
      by_ranks[bytes].points.emplace_back(shape.ranks, us);
    }
  }
  const std::string title = fmt::format("{} on {}", options_.operation,
                                        options_.profile.empty() ? options_.network : options_.profile);
  const auto picture = [&](const std::map<std::string, sim::Series>& of, const char* axis) {
    std::vector<sim::Series> all;
    for (const auto& [name, series] : of) all.push_back(series);
    return sim::plot_svg(title, axis, "microseconds", all);
  };
  std::vector<std::string> pictures;
  const bool one_file = options_.plot.ends_with(".svg");
  if (options_.bytes.size() > 1 || options_.ranks.size() == 1) pictures.push_back(picture(by_bytes, "bytes"));
  if (options_.ranks.size() > 1 && (!one_file || pictures.empty()))
    pictures.push_back(picture(by_ranks, "ranks"));
  if (const std::string problem = sim::write_plots(options_.plot, title, pictures); !problem.empty())
    throw BadInput(problem);
}

}  // namespace aqueduct::aqsim
