#include "sample_sort/keys.hpp"

#include "common/mixed.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sample_sort {

using example::mixed;

namespace {

/// How many of a rank's keys come before a place.
std::size_t keys_before(std::span<const Key> sorted, std::uint64_t rank, const Place& place) {
  if (rank == place.rank) return place.position;
  const auto end = rank < place.rank ? std::ranges::upper_bound(sorted, place.key)
                                     : std::ranges::lower_bound(sorted, place.key);
  return static_cast<std::size_t>(end - sorted.begin());
}

}  // namespace

Key key_of(std::uint64_t index, std::uint64_t distinct) {
  return distinct == 0 ? mixed(index) : mixed(mixed(index) % distinct);
}

std::vector<Place> sample(std::span<const Key> sorted, std::uint64_t rank, std::size_t count) {
  if (sorted.empty()) return std::vector<Place>(count, Place{std::numeric_limits<Key>::max(), rank, 0});
  std::vector<Place> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t position = (2 * i + 1) * sorted.size() / (2 * count);  // the middle of the i-th stretch
    places[i] = {sorted[position], rank, position};
  }
  return places;
}

std::vector<Place> splitters(std::vector<Place> samples, std::size_t ranks) {
  std::ranges::sort(samples);
  std::vector<Place> places;
  for (std::size_t rank = 1; rank < ranks; ++rank) places.push_back(samples[rank * samples.size() / ranks]);
  return places;
}

std::vector<std::uint64_t> cut(std::span<const Key> sorted, std::uint64_t rank,
                               std::span<const Place> splitters) {
  std::vector<std::uint64_t> counts;
  std::size_t first = 0;
  for (const Place& place : splitters) {
    const std::size_t end = keys_before(sorted, rank, place);
    counts.push_back(end - first);
    first = end;
  }
  counts.push_back(sorted.size() - first);
  return counts;
}

void merge(std::span<Key> keys, std::vector<std::size_t> ends) {
  // Neighbours in pairs, so that each key moves about log2(runs) times.
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    std::size_t first = 0;
    for (std::size_t run = 0; run < ends.size(); run += 2) {
      const std::size_t last = ends[std::min(run + 1, ends.size() - 1)];
      std::inplace_merge(keys.data() + first, keys.data() + ends[run], keys.data() + last);
      merged.push_back(last);
      first = last;
    }
    ends = std::move(merged);
  }
}

std::vector<std::uint64_t> fingerprint(std::span<const Key> keys) {
  std::vector<std::uint64_t> sums(3);
  for (const Key key : keys) {
    sums[0] += mixed(key);
    sums[1] += mixed(~key);
  }
  sums[2] = keys.size();
  return sums;
}

}  // namespace sample_sort
