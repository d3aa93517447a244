#include "coll/tune/tuning_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <set>

namespace aqueduct::coll {

namespace {

/// Decisions farther away than this, in classes of size, are not used. Chosen: two octaves, or four times as many members.
constexpr std::uint64_t kMostDistance = 4;

/// The logarithm of a number of members in half octaves, as sizes have it.
std::int64_t half_octaves(Rank ranks) noexcept { return static_cast<std::int64_t>(size_class(ranks)); }

/// The logarithm of the members of a host, likewise.
std::int64_t half_octaves_of_host(const TuningKey& key) noexcept {
  return half_octaves(key.ranks) - half_octaves(key.hosts);
}

/// What is known to differ is never near: with too many ranks a call waits for processors, and takes another algorithm.
bool may_be_as_crowded(const TuningKey& a, const TuningKey& b) noexcept {
  return a.crowded == b.crowded || a.crowded == Crowding::unknown || b.crowded == Crowding::unknown;
}

/// Everything but the size, the members, their hosts and the element.
bool same_question(const TuningKey& a, const TuningKey& b) noexcept {
  if (!may_be_as_crowded(a, b)) return false;
  return a.operation == b.operation && a.in == b.in && a.out == b.out && a.addresses == b.addresses &&
         a.order == b.order && a.commutative == b.commutative && a.kind == b.kind;
}

std::uint64_t distance(const TuningKey& a, const TuningKey& b) noexcept {
  const auto sizes = std::llabs(static_cast<std::int64_t>(a.size) - static_cast<std::int64_t>(b.size));
  const auto ranks = std::llabs(half_octaves(a.ranks) - half_octaves(b.ranks));
  // Twice as many hosts of as many members each count as twice as many members, and no more than that.
  const auto of_host =
      a.hosts == 0 || b.hosts == 0 ? 0 : std::llabs(half_octaves_of_host(a) - half_octaves_of_host(b));
  return static_cast<std::uint64_t>(sizes + ranks + of_host);
}

}  // namespace

TuningTable::TuningTable(const Models& models, std::span<const Decision> decisions)
    : host_(models.host), network_(models.network), decisions_(decisions.begin(), decisions.end()) {
  std::reverse(decisions_.begin(), decisions_.end());
  // Of a key the latest counts; and if there are too many, the latest ones.
  std::set<TuningKey> known;
  std::erase_if(decisions_, [&](const Decision& one) { return !known.insert(one.key).second; });
  if (decisions_.size() > kMostDecisions) decisions_.resize(kMostDecisions);
  std::sort(decisions_.begin(), decisions_.end(),
            [](const Decision& a, const Decision& b) { return a.key < b.key; });
  set_hash();
}

std::vector<Decision> latest_of(std::span<const Decision> decisions) {
  std::vector<Decision> out(decisions.rbegin(), decisions.rend());
  // Of equal keys a stable sort leaves the later one first.
  std::stable_sort(out.begin(), out.end(),
                   [](const Decision& a, const Decision& b) { return a.key < b.key; });
  out.erase(std::unique(out.begin(), out.end(),
                        [](const Decision& a, const Decision& b) { return a.key == b.key; }),
            out.end());
  return out;
}

std::size_t leave_out_unlike(Rank ranks, std::vector<Decision>& decisions, std::size_t most) {
  decisions = latest_of(decisions);
  if (decisions.size() <= most) return 0;
  const auto unlike = [&](const Decision& one) -> std::int64_t {
    return one.key.ranks == ranks ? 0 : 1 + std::llabs(half_octaves(one.key.ranks) - half_octaves(ranks));
  };
  std::stable_sort(decisions.begin(), decisions.end(),
                   [&](const Decision& a, const Decision& b) { return unlike(a) < unlike(b); });
  const std::size_t left_out = decisions.size() - most;
  decisions.resize(most);
  return left_out;
}

const Decision* TuningTable::find(const TuningKey& key) const noexcept {
  const Decision* nearest = nullptr;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const Decision& one : decisions_) {
    if (one.key == key) return &one;
    if (!same_question(one.key, key)) continue;
    const std::uint64_t far = distance(one.key, key);
    // Of equally near ones that which knows whether ranks shared processors.
    const bool knows_more = nearest != nullptr && far == least && nearest->key.crowded == Crowding::unknown &&
                            one.key.crowded != Crowding::unknown;
    if (far > kMostDistance || (far >= least && !knows_more)) continue;
    nearest = &one;
    least = far;
  }
  return nearest;
}

void TuningTable::set_hash() {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t word : words()) {
    hash = (hash ^ word) * 0x94d049bb133111ebu;
    hash ^= hash >> 32;
  }
  hash_ = empty() ? 0 : hash;
}

}  // namespace aqueduct::coll
