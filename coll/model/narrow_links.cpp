#include "coll/model/narrow_links.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

/// The square root, rounded down; at least 1.
Rank root_of(Rank number) noexcept {
  Rank root = 1;
  while (std::uint64_t{root + 1} * (root + 1) <= number) ++root;
  return root;
}

}  // namespace

NarrowLinks::NarrowLinks(Rank ranks, Rank block) noexcept
    : ranks_(ranks),
      of_group_(block * root_of((ranks + block - 1) / block)),
      groups_((ranks + of_group_ - 1) / of_group_) {}

void NarrowLinks::begin() { free_.assign(std::size_t{groups_} * groups_, 0); }

Picoseconds NarrowLinks::arrival(Picoseconds entered, Rank from, Rank to, std::uint64_t bytes,
                                 const LogGP& link) {
  const Rank leaves = from / of_group_;
  const Rank enters = to / of_group_;
  if (leaves == enters) return entered + link.latency;
  Picoseconds& free = free_[std::size_t{leaves} * groups_ + enters];
  const Picoseconds begins = std::max(entered, free);
  free = begins + link.bytes_time(bytes);
  return begins + link.latency;
}

std::uint64_t NarrowLinks::sharing(Rank distance, bool turns) const noexcept {
  if (turns) {
    if (distance >= of_group_) return of_group_;
    return of_group_ % (2 * distance) == 0 ? 0 : distance;  // pairs are on both sides of a border of groups
  }
  const Rank shorter = std::min(distance, ranks_ - distance);
  if (shorter < of_group_) return shorter;
  const Rank rest = distance % of_group_;
  return std::max(rest, of_group_ - rest);
}

Picoseconds NarrowLinks::last_arrival(Picoseconds entered, Rank distance, bool turns, std::uint64_t bytes,
                                      const LogGP& link) {
  const std::uint64_t shared = sharing(distance, turns);
  if (shared == 0 || bytes == 0) return entered + link.latency;
  // Two distances use different links if they lead to different groups.
  const std::size_t way = std::size_t{distance / of_group_} + (turns ? groups_ + 1 : 0);
  if (way >= free_.size()) free_.resize(way + 1, 0);
  const Picoseconds length = link.bytes_time(bytes);
  const Picoseconds begins = std::max(entered, free_[way]);
  Picoseconds all = 0;
  if (__builtin_mul_overflow(length, shared, &all) || all >= kMostTime - begins) all = kMostTime - begins;
  free_[way] = begins + all;
  return begins + (all - std::min(all, length)) + link.latency;
}

}  // namespace aqueduct::coll
