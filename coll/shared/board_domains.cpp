#include "coll/shared/board_domains.hpp"

#include "coll/schedule/shape.hpp"
#include "topology/placement.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace aqueduct::coll {

namespace {

/// Some labels, one after the other.
struct Labels {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool has(std::uint32_t label) const noexcept { return label >= begin && label < end; }
};

/// The groups of a level that lie in a group of the level before; at the narrowest level, the members.
std::vector<Labels> groups_in(const topology::Placement& placement, std::size_t level, Labels within) {
  std::vector<Labels> groups;
  if (level == placement.cuts().size()) {
    for (std::uint32_t label = within.begin; label < within.end; ++label)
      groups.push_back({label, label + 1});
    return groups;
  }
  const std::vector<std::uint32_t>& first = placement.cuts()[level].first;
  for (std::size_t i = 0; i + 1 < first.size(); ++i) {
    if (within.has(first[i])) groups.push_back({first[i], first[i + 1]});
  }
  return groups;
}

/// Of how many members of the domain `of` a member of another domain has the care.
std::uint32_t in_care(const BoardDomains& domains, std::uint32_t domain, std::uint32_t index,
                      std::uint32_t of) noexcept {
  const std::uint32_t size = domains.size(of);
  return index < size ? (size - index - 1) / domains.size(domain) + 1 : 0;
}

}  // namespace

std::uint32_t BoardDomains::most_tiles() const noexcept {
  std::uint32_t least = tiles;
  for (std::uint32_t domain = 0; domain < count; ++domain) least = std::min(least, size(domain));
  return (tiles + least - 1) / least;
}

std::uint32_t BoardDomains::most_blocks() const noexcept {
  std::uint32_t most = 0;
  for (std::uint32_t domain = 0; domain < count; ++domain) {
    std::uint32_t of_first = 0;  // no other member of a domain has the care of more
    for (std::uint32_t i = 1; i < count; ++i) of_first += in_care(*this, domain, 0, (domain + i) % count);
    most = std::max(most, of_first);
  }
  return most;
}

bool may_go_by_domains(const topology::Placement* placement, const Shape& shape) noexcept {
  if (placement == nullptr || placement->cuts().empty()) return false;
  if (!reduces(shape.operation)) return true;
  if (shape.order == Order::exact) return false;
  return shape.commutative || placement->is_in_order();
}

BoardDomains domains_of(const topology::Placement& placement, Rank me) {
  const topology::Placement::Cut& cut = placement.cuts().back();
  BoardDomains out;
  out.count = cut.groups();
  out.first = cut.first;
  const std::uint32_t label = placement.label_of(me);
  out.mine = cut.group_of(label);
  out.index = label - cut.first[out.mine];
  for (std::uint32_t i = 0; i < placement.size(); ++i) out.order.push_back(placement.member(i));
  for (std::uint32_t domain = 0; domain < out.count; ++domain)
    out.tiles = std::max(out.tiles, out.size(domain));
  for (std::uint32_t domain = 0; domain < out.count; ++domain) {
    if (domain == out.mine) continue;
    std::vector<Rank> owners;
    for (std::uint64_t tile = out.index; tile < out.tiles; tile += out.size(out.mine))
      owners.push_back(out.owner(domain, tile));
    std::ranges::sort(owners);
    std::unique_copy(owners.begin(), owners.end(), std::back_inserter(out.partners));
  }
  out.place.resize(out.count);
  for (std::uint32_t domain = 0; domain < out.count; ++domain) {
    if (domain == out.mine) continue;
    const std::uint32_t size = out.size(domain);
    std::uint32_t before = out.index / size;
    for (std::uint32_t i = 1; (domain + i) % out.count != out.mine; ++i)
      before += in_care(out, domain, out.index % size, (domain + i) % out.count);
    out.place[domain] = before;
  }
  return out;
}

TreePlace place_in_tree(const topology::Placement& placement, Rank me, Rank root, std::uint32_t radix) {
  TreePlace out;
  const std::uint32_t mine = placement.label_of(me);
  const std::uint32_t roots = placement.label_of(root);
  std::vector<std::vector<Rank>> children;  // [level]
  Labels within{0, placement.size()};
  for (std::size_t level = 0; level <= placement.cuts().size(); ++level) {
    std::vector<Labels> groups = groups_in(placement, level, within);
    // The root's is the first one, and the others follow it in turn.
    const auto of_root = std::ranges::find_if(groups, [&](Labels group) { return group.has(roots); });
    if (of_root != groups.end()) std::rotate(groups.begin(), of_root, groups.end());
    const auto leader = [&](std::uint64_t i) {
      return placement.member(groups[i].has(roots) ? roots : groups[i].begin);
    };
    const auto at = static_cast<std::uint64_t>(
        std::ranges::find_if(groups, [&](Labels group) { return group.has(mine); }) - groups.begin());
    within = groups[at];
    children.emplace_back();
    if (leader(at) != me) continue;
    for (std::uint64_t unit = 1; unit < groups.size(); unit *= radix) {
      const std::uint64_t digit = at / unit % radix;
      if (digit != 0) {
        out.parent = leader(at - digit * unit);
        break;
      }
      for (std::uint64_t i = 1; i < radix && at + i * unit < groups.size(); ++i)
        children.back().push_back(leader(at + i * unit));
    }
  }
  for (auto level = children.rbegin(); level != children.rend(); ++level)
    out.children.insert(out.children.end(), level->begin(), level->end());
  return out;
}

RoundsPlace place_in_rounds(const topology::Placement* placement, Rank ranks, Rank me) {
  BoardDomains domains;
  if (placement != nullptr && !placement->cuts().empty()) {
    domains = domains_of(*placement, me);
  } else {
    domains.count = 1;
    domains.first = {0, ranks};
    domains.order.resize(ranks);
    std::iota(domains.order.begin(), domains.order.end(), Rank{0});
  }
  std::uint32_t smallest = ranks;
  for (std::uint32_t domain = 0; domain < domains.count; ++domain)
    smallest = std::min(smallest, domains.size(domain));
  const std::uint32_t each = std::bit_floor(smallest);
  const std::uint32_t taking_part = std::bit_floor(domains.count);
  const auto member = [&](std::uint32_t number) {
    return domains.order[domains.first[number / each] + number % each];
  };
  RoundsPlace out;
  out.rounds = static_cast<std::uint32_t>(std::bit_width(each * taking_part)) - 1;
  std::uint32_t others = 0;
  for (std::uint32_t domain = 0; domain < domains.count; ++domain) {
    for (std::uint32_t index = 0; index < domains.size(domain); ++index) {
      const Rank one = domains.members(domain)[index];
      if (domain < taking_part && index < each) {
        for (std::uint32_t round = 0; one == me && round < out.rounds; ++round)
          out.partners.push_back(member((domain * each + index) ^ (1u << round)));
        continue;
      }
      // In its own domain, if that takes part.
      const std::uint32_t number =
          domain < taking_part ? domain * each + index % each : others++ % (each * taking_part);
      if (one == me) out.helper = member(number);
      if (member(number) == me) out.helped.push_back(one);
    }
  }
  return out;
}

}  // namespace aqueduct::coll
