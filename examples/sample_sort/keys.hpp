#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sample_sort {

using Key = std::uint64_t;

/// Key `index` of the fixed random data set: one of `distinct` values, or any number if `distinct` is 0.
Key key_of(std::uint64_t index, std::uint64_t distinct);

/// A place in the sorted order of all keys. Equal keys are in the order of the ranks that had them, and of their positions
/// there: so many equal keys can be divided among ranks too.
struct Place {
  Key key = 0;
  std::uint64_t rank = 0;
  std::uint64_t position = 0;  ///< in the rank's sorted keys
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// `count` places, spread evenly over a rank's sorted keys. A rank without keys gives places after all others.
std::vector<Place> sample(std::span<const Key> sorted, std::uint64_t rank, std::size_t count);

/// Divides the order into as many parts as there are ranks, from the samples of all ranks: part r + 1 begins at place r of
/// the result. A part has at most (1 + ranks / samples of a rank) times its fair share, but for rounding.
std::vector<Place> splitters(std::vector<Place> samples, std::size_t ranks);

/// How many of a rank's sorted keys belong to each part. They lie in the order of the parts.
std::vector<std::uint64_t> cut(std::span<const Key> sorted, std::uint64_t rank,
                               std::span<const Place> splitters);

/// Sorts keys that consist of sorted runs. `ends` are the runs' ends, in order.
void merge(std::span<Key> keys, std::vector<std::size_t> ends);

/// Tells collections of keys apart, whatever their order: two sums of different hashes, and the number of keys.
/// Other collections have other numbers, but for a chance of about 2^-128.
std::vector<std::uint64_t> fingerprint(std::span<const Key> keys);

}  // namespace sample_sort
