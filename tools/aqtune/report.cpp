#include "tools/aqtune/report.hpp"

#include "coll/tune/operation_word.hpp"
#include "coll/tune/size_class.hpp"
#include "sim/plot.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <vector>

namespace aqueduct::aqtune {

namespace {

using coll::Decision;

// Light ones, so that black text can be read on them. Chosen.
constexpr std::array kColours{"#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94",
                              "#f7b6d2", "#dbdb8d", "#9edae5", "#c7c7c7", "#e7cb94", "#b5cf6b"};

constexpr std::string_view kStyle =
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em}"
    "table{border-collapse:collapse;margin:.6em 0}"
    "th,td{border:1px solid #bbb;padding:.25em .6em;text-align:left;font-size:13px}"
    "th{background:#eee;font-weight:600}td small{color:#333}svg{max-width:100%;height:auto}";

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string size_word(std::uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string time_word(std::uint64_t picoseconds) {
  const double us = static_cast<double>(picoseconds) / 1e6;
  return us >= 1000 ? fmt::format("{:.2f} ms", us / 1000) : fmt::format("{:.2f} µs", us);
}

/// One map has what can be compared: keys that differ in what rows and columns are for, the members and the size.
coll::TuningKey map_of(const Decision& one) {
  coll::TuningKey key = one.key;
  key.ranks = 1;
  key.hosts = 0;
  key.size = 0;
  return key;
}

std::string title_of(const coll::TuningKey& key) {
  constexpr std::array kKinds{"in mapped memory", "on one host", "over a network"};
  constexpr std::array kSyncs{"none", "mine", "all"};
  constexpr std::array kOrders{"any", "same_everywhere", "exact"};
  std::string title =
      fmt::format("{} {}", coll::operation_word(key.operation), kKinds[static_cast<std::size_t>(key.kind)]);
  const bool has_modes = key.operation != coll::Operation::barrier;
  if (has_modes && (key.in != coll::Sync::all || key.out != coll::Sync::all))
    title += fmt::format(", sync {} to {}", kSyncs[static_cast<std::size_t>(key.in)],
                         kSyncs[static_cast<std::size_t>(key.out)]);
  if (key.element != 1) title += fmt::format(", elements of {} bytes", key.element);
  if (key.order != coll::Order::any)
    title += fmt::format(", order {}", kOrders[static_cast<std::size_t>(key.order)]);
  if (!key.commutative) title += ", operators that do not commute";
  if (key.addresses != coll::Addresses::local) title += ", members know each other's buffers";
  if (key.crowded == coll::Crowding::yes) title += ", more ranks than processors";
  if (key.crowded == coll::Crowding::unknown) title += ", of an older file";
  return title;
}

/// A colour for each algorithm, the same on the whole page.
class Colours {
 public:
  const char* of(std::string_view algorithm) {
    const auto [at, fresh] = numbers_.emplace(algorithm, numbers_.size());
    return kColours[at->second % kColours.size()];
  }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

std::string cell_of(const Decision& one, Colours& colours) {
  std::string why = fmt::format("{}: {}, the median of {}", coll::name_of(one.best),
                                time_word(one.best.picoseconds), one.samples);
  if (one.runner_up.algorithm != nullptr)
    why +=
        fmt::format("; runner-up {}: {}", coll::name_of(one.runner_up), time_word(one.runner_up.picoseconds));
  return fmt::format("<td style=\"background:{}\" title=\"{}\">{}<br><small>{}</small></td>",
                     colours.of(one.best.algorithm->name), in_html(why), in_html(coll::name_of(one.best)),
                     time_word(one.best.picoseconds));
}

/// Members, and on how many hosts they are; 0: not known.
using Members = std::pair<Rank, Rank>;
Members members_of(const Decision& one) { return {one.key.ranks, one.key.hosts}; }
std::string members_word(const Members& members) {
  return members.second == 0 ? fmt::format("{}", members.first)
                             : fmt::format("{} on {} hosts", members.first, members.second);
}

std::string map_table(const std::vector<const Decision*>& decisions, Colours& colours) {
  std::set<std::uint32_t> sizes;
  std::map<Members, std::map<std::uint32_t, const Decision*>> rows;
  for (const Decision* const one : decisions) {
    sizes.insert(one->key.size);
    rows[members_of(*one)][one->key.size] = one;
  }
  std::string text = "<table class=\"map\"><tr><th>members</th>";
  const bool has_sizes = decisions.front()->key.operation != coll::Operation::barrier;
  for (const std::uint32_t size : sizes)
    text += fmt::format("<th>{}</th>", has_sizes ? size_word(coll::least_bytes_of(size)) : "");
  text += "</tr>\n";
  for (const auto& [members, row] : rows) {
    text += fmt::format("<tr><th>{}</th>", members_word(members));
    for (const std::uint32_t size : sizes) {
      const auto found = row.find(size);
      text += found != row.end() ? cell_of(*found->second, colours) : "<td></td>";
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

/// Times over sizes: a line for the best and one for the runner-up of each number of members.
std::string curves(const std::string& title, const std::vector<const Decision*>& decisions) {
  std::map<std::string, sim::Series> lines;
  for (const Decision* const one : decisions) {
    const auto bytes = static_cast<double>(coll::least_bytes_of(one->key.size));
    const auto add = [&](std::string_view what, const coll::Timed& timed) {
      if (timed.algorithm == nullptr || bytes <= 0 || timed.picoseconds == 0) return;
      const std::string name = fmt::format("{}, P = {}", what, members_word(members_of(*one)));
      sim::Series& line = lines[name];
      line.name = name;
      line.points.emplace_back(bytes, static_cast<double>(timed.picoseconds) / 1e6);
    };
    add("best", one->best);
    add("runner-up", one->runner_up);
  }
  std::vector<sim::Series> all;
  for (auto& [name, line] : lines) all.push_back(std::move(line));
  return all.empty() ? std::string() : sim::plot_svg(title, "bytes of a block", "µs", all);
}

}  // namespace

std::string report_page(const coll::TuningPlace& place, std::span<const coll::Decision> decisions) {
  return report_page_by_network(place, coll::DecisionsByNetwork{{"", {decisions.begin(), decisions.end()}}});
}

std::string report_page_by_network(const coll::TuningPlace& place,
                                   const coll::DecisionsByNetwork& decisions) {
  std::map<std::pair<coll::TuningKey, std::string>, std::vector<const Decision*>> maps;
  std::size_t number = 0;
  for (const auto& [network, all] : decisions) {
    for (const Decision& one : all) maps[{map_of(one), network}].push_back(&one);
    number += all.size();
  }
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Aqueduct: tuning of "
      "{0}</title>\n"
      "<style>{1}</style></head>\n<body><h1>The fastest algorithms over {0}</h1>\n<p>{2}. {3} decisions. A "
      "cell "
      "shows what was the fastest, and the median time of the slowest member; point at it to see the "
      "runner-up.</p>\n",
      in_html(place.conduit), kStyle, in_html(place.machine), number);
  Colours colours;
  for (const auto& [which, of_map] : maps) {
    const std::string& network = which.second;
    const std::string title =
        title_of(of_map.front()->key) + (network.empty() ? "" : fmt::format(" ({})", network));
    text += fmt::format("<h2>{}</h2>\n", in_html(title));
    text += map_table(of_map, colours);
    text += curves(title, of_map);
  }
  if (maps.empty()) text += "<p>Nothing was decided.</p>\n";
  return text + "</body></html>\n";
}

}  // namespace aqueduct::aqtune
