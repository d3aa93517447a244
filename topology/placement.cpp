#include "topology/placement.hpp"

#include <algorithm>
#include <numeric>

namespace aqueduct::topology {

std::uint32_t Placement::Cut::group_of(std::uint32_t label) const noexcept {
  const auto after = std::ranges::upper_bound(first, label);
  return static_cast<std::uint32_t>(after - first.begin()) - 1;
}

std::uint32_t Placement::label_of(Rank member) const noexcept {
  const auto found = std::ranges::lower_bound(members_, member);
  return label_[static_cast<std::size_t>(found - members_.begin())];
}

Placement Placement::of(std::span<const Rank> members, const std::vector<Level>& levels,
                        const DomainOf& domain_of) {
  Placement out;
  const auto count = static_cast<std::uint32_t>(members.size());
  out.members_.assign(members.begin(), members.end());
  // [member][level]: the domains by which the members are ordered. kNowhere is the greatest number, and comes last.
  std::vector<std::vector<std::uint32_t>> domains(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::size_t level = 0; level < levels.size(); ++level)
      domains[i].push_back(domain_of(members[i], level));
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return domains[a] < domains[b]; });
  out.label_.resize(count);
  for (std::uint32_t label = 0; label < count; ++label) {
    out.order_.push_back(members[order[label]]);
    out.label_[order[label]] = label;
  }
  for (std::size_t level = 1; level < levels.size(); ++level) {
    if (!levels[level].memory) continue;
    // A group of a level lies in one of each level before it, because the members are ordered by those first.
    const auto apart = [&](std::uint32_t label) {
      const auto& one = domains[order[label - 1]];
      const auto& other = domains[order[label]];
      return !std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(level) + 1, other.begin());
    };
    Cut cut{level, {0}};
    for (std::uint32_t label = 1; label < count; ++label) {
      if (apart(label)) cut.first.push_back(label);
    }
    cut.first.push_back(count);
    if (cut.groups() <= 1 || cut.groups() == count) continue;
    if (!out.cuts_.empty() && out.cuts_.back().first == cut.first) continue;
    out.cuts_.push_back(std::move(cut));
  }
  return out;
}

}  // namespace aqueduct::topology
