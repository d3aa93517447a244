#include "sim/hosts.hpp"

#include "sim/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aqueduct::sim {

namespace {

constexpr std::uint64_t kMostSlots = std::numeric_limits<Rank>::max();

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Where each rank is: its host, numbered in the order of their first ranks, and its number there.
struct Seats {
  std::vector<Rank> host;
  std::vector<Rank> number;
  std::vector<Rank> sizes;  ///< [host]

  explicit Seats(std::span<const Host> host_of) {
    host.reserve(host_of.size());
    number.reserve(host_of.size());
    std::unordered_map<Host, Rank> found;
    for (const Host one : host_of) {
      const auto [at, is_new] = found.try_emplace(one, static_cast<Rank>(sizes.size()));
      if (is_new) sizes.push_back(0);
      host.push_back(at->second);
      number.push_back(sizes[at->second]++);
    }
  }
};

}  // namespace

bool HostList::are_mixed() const noexcept {
  return sizes.size() > 1 && std::any_of(sizes.begin(), sizes.end(), [](Rank size) { return size > 1; });
}

bool HostList::are_even() const noexcept {
  return sizes.empty() ||
         (sizes.back() <= sizes.front() &&
          std::all_of(sizes.begin(), sizes.end() - 1, [&](Rank size) { return size == sizes.front(); }));
}

std::vector<Host> HostList::host_of() const {
  std::vector<Host> out;
  for (Host host = 0; host < sizes.size(); ++host) out.insert(out.end(), sizes[host], host);
  return out;
}

std::vector<Host> blocks_of(Rank ranks, Rank each) {
  std::vector<Host> out(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) out[rank] = rank / each;
  return out;
}

void place_on_hosts(coll::Machine& machine, std::span<const Host> host_of, Rank each) {
  const Seats seats(host_of);
  const Rank most = *std::max_element(seats.sizes.begin(), seats.sizes.end());
  // The last level joins all that no other one does, whatever its number of ranks.
  const std::span<coll::Machine::Level> inner(machine.levels.data(), machine.levels.size() - 1);
  std::uint64_t part = 1;  // the largest part of a host that has a level of its own
  for (const coll::Machine::Level& level : inner) {
    if (level.group < each) part = level.group;
  }
  const std::uint64_t stride = rounded_up(most, part);
  if (seats.sizes.size() * stride > kMostSlots) {
    throw BadInput(
        fmt::format("{} hosts with room for {} ranks on each, as many as the largest has, are more than {} "
                    "places: take fewer hosts, or hosts of more equal sizes",
                    seats.sizes.size(), most, kMostSlots));
  }
  for (coll::Machine::Level& level : inner) {
    if (level.group < each) continue;
    const std::uint64_t hosts = rounded_up(level.group, each) / each;
    level.group = static_cast<Rank>(std::min(hosts * stride, kMostSlots));
  }
  machine.host = static_cast<Rank>(stride);
  machine.slots.resize(host_of.size());
  bool in_order = true;
  for (Rank rank = 0; rank < host_of.size(); ++rank) {
    machine.slots[rank] = seats.host[rank] * machine.host + seats.number[rank];
    in_order = in_order && machine.slots[rank] == rank;
  }
  if (in_order) machine.slots.clear();
}

void mix_on_hosts(coll::Machine& machine, Rank ranks, std::uint64_t seed) {
  if (machine.slots.empty()) {
    machine.slots.resize(ranks);
    std::iota(machine.slots.begin(), machine.slots.end(), Rank{0});
  }
  std::unordered_map<Rank, std::vector<Rank>> of_host;
  for (Rank rank = 0; rank < ranks; ++rank) of_host[machine.host_of(rank)].push_back(rank);
  std::mt19937_64 chance(seed);
  for (Rank first = 0; first < ranks; ++first) {
    std::vector<Rank>& members = of_host[machine.host_of(first)];
    if (members.empty() || members.front() != first) continue;  // its host has had its turn
    for (std::size_t left = members.size(); left > 1; --left)
      std::swap(machine.slots[members[left - 1]], machine.slots[members[chance() % left]]);
    members.clear();
  }
}

}  // namespace aqueduct::sim
