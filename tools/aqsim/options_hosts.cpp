// Which ranks share a host, as the command line says.

#include "tools/aqsim/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

constexpr std::uint64_t kMostRanks = 1U << 28;

/// Hosts of one size, one after the other.
struct HostRun {
  std::uint64_t hosts = 0;
  std::uint64_t size = 0;
};

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// "8" or "64x8". Nothing: it is neither, or has a number out of bounds.
std::optional<HostRun> read_run(std::string_view text) {
  const std::size_t times = text.find('x');
  const auto hosts =
      times == std::string_view::npos ? std::optional<std::uint64_t>(1) : whole_number(text.substr(0, times));
  const auto size = whole_number(times == std::string_view::npos ? text : text.substr(times + 1));
  const auto in_bounds = [](std::optional<std::uint64_t> value) {
    return value && *value >= 1 && *value <= kMostRanks;
  };
  if (!in_bounds(hosts) || !in_bounds(size)) return std::nullopt;
  return HostRun{*hosts, *size};
}

}  // namespace

void read_hosts(const std::string& text, Options& options) {
  options.hosts = {.sizes = {}, .argument = "--hosts " + text};
  std::uint64_t ranks = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::optional<HostRun> run = read_run(part);
    if (!run) {
      throw BadInput(fmt::format(
          "--hosts {}: '{}' is no host: give the ranks of each host, 1 to {}, such as 8,8,3, or HOSTSxRANKS, "
          "such as 64x8",
          text, part, kMostRanks));
    }
    ranks += run->hosts * run->size;
    if (ranks > kMostRanks)
      throw BadInput(fmt::format("--hosts {}: hosts may have {} ranks in all: give fewer", text, kMostRanks));
    options.hosts.sizes.insert(options.hosts.sizes.end(), run->hosts, static_cast<Rank>(run->size));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  options.ranks = {static_cast<Rank>(ranks)};
}

sim::HostList hosts_for(const Options& options, Rank ranks) {
  if (options.hosts.given()) {
    const std::vector<Rank>& sizes = options.hosts.sizes;
    const std::uint64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    if (sum != ranks) {
      throw BadInput(
          fmt::format("{}: these hosts have {} ranks, but --ranks says {}: give --ranks {}, or hosts with {} "
                      "ranks in all",
                      options.hosts.argument, sum, ranks, sum, ranks));
    }
    return options.hosts;
  }
  sim::HostList hosts;
  if (options.ranks_per_host == 0) return hosts;
  hosts.argument = fmt::format("--ranks-per-host {}", options.ranks_per_host);
  for (Rank left = ranks; left > 0; left -= hosts.sizes.back())
    hosts.sizes.push_back(std::min(left, options.ranks_per_host));
  return hosts;
}

}  // namespace aqueduct::aqsim
