#include "topology/closeness.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace aqueduct::topology {

namespace {

/// Whether a level is of that kind: "package+numa" is one of NUMA nodes.
bool is_of(std::string_view name, std::string_view kind) noexcept {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('+'), name.size());
    if (name.substr(0, end) == kind) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

}  // namespace

std::string_view word_of(Closeness closeness) noexcept {
  constexpr std::array<std::string_view, 4> kWords{"core", "cache", "domain", "host"};
  return kWords[static_cast<std::size_t>(closeness)];
}

Closeness closeness(std::span<const Rank> members, const std::vector<Level>& levels,
                    const Placement::DomainOf& domain_of) {
  // Whether all are in one domain; nothing: there is no such level.
  const auto share = [&](std::string_view kind) -> std::optional<bool> {
    for (std::size_t level = 0; level < levels.size(); ++level) {
      if (!is_of(levels[level].name, kind)) continue;
      const std::uint32_t first = domain_of(members.front(), level);
      return first != kNowhere &&
             std::ranges::all_of(members, [&](Rank member) { return domain_of(member, level) == first; });
    }
    return std::nullopt;
  };
  if (share("core").value_or(false)) return Closeness::core;
  if (share("l3").value_or(false)) return Closeness::cache;
  return share("numa").value_or(true) ? Closeness::domain : Closeness::host;
}

}  // namespace aqueduct::topology
