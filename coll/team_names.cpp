#include "coll/team_names.hpp"

namespace aqueduct::coll {

std::uint64_t TeamNames::of(std::uint64_t tag, std::span<const Rank> sorted) noexcept {
  std::uint64_t name = mixed(0x7465616d, tag);  // "team": split ids begin from a parent's id instead
  for (const Rank rank : sorted) name = mixed(name, rank);
  return name != 0 ? name : 1;
}

std::uint64_t* TeamNames::open(std::uint64_t name) {
  Name& found = names_[name];
  if (found.in_use) return nullptr;
  found.in_use = true;
  return &found.exchanges;
}

void TeamNames::close(std::uint64_t name) noexcept {
  if (const auto found = names_.find(name); found != names_.end()) found->second.in_use = false;
}

}  // namespace aqueduct::coll
