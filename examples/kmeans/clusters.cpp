#include "kmeans/clusters.hpp"

#include "common/mixed.hpp"

#include <algorithm>
#include <limits>

namespace kmeans {

namespace {

using example::mixed;

std::int32_t distance_squared(const Point& a, const Point& b) {
  static_assert(std::int64_t{kDimensions} * kSide * kSide <= std::numeric_limits<std::int32_t>::max());
  std::int32_t sum = 0;
  for (std::size_t d = 0; d < kDimensions; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

}  // namespace

Point point_of(std::uint64_t index, std::uint64_t groups) {
  const std::uint64_t group = mixed(index) % groups;
  Point point;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const std::uint64_t place = mixed(~(group * kDimensions + d)) % kSide;
    // The sum of four numbers is spread like a hill: many points near the place, few far away.
    const std::uint64_t bits = mixed((index * kDimensions + d) ^ 0x5851f42d4c957f2du);
    std::int64_t away = 0;
    for (unsigned part = 0; part < 4; ++part) away += static_cast<std::int64_t>(bits >> (16 * part) & 0x1ff);
    const std::int64_t coordinate = static_cast<std::int64_t>(place) + away - 2 * 0x1ff;
    point[d] = static_cast<std::int32_t>(std::clamp<std::int64_t>(coordinate, 0, kSide - 1));
  }
  return point;
}

std::vector<Point> points_from(std::uint64_t first, std::uint64_t count, std::uint64_t groups) {
  std::vector<Point> points(count);
  for (std::uint64_t i = 0; i < count; ++i) points[i] = point_of(first + i, groups);
  return points;
}

void Sums::assign(std::span<const Point> points, std::span<const Point> centres,
                  std::span<std::uint32_t> nearest) {
  std::ranges::fill(numbers_, 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::uint32_t best = 0;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::uint32_t c = 0; c < centres.size(); ++c) {
      const std::int32_t distance = distance_squared(points[i], centres[c]);
      best = distance < least ? c : best;  // without a branch, which would often be mispredicted
      least = std::min(least, distance);
    }
    std::int64_t* const sums = &numbers_[best * (kDimensions + 1)];
    for (std::size_t d = 0; d < kDimensions; ++d) sums[d] += points[i][d];
    ++sums[kDimensions];
    numbers_.back() += best != nearest[i] ? 1 : 0;
    nearest[i] = best;
  }
}

void Sums::move(std::span<Point> centres) const {
  for (std::size_t c = 0; c < centres.size(); ++c) {
    const std::int64_t* const sums = &numbers_[c * (kDimensions + 1)];
    if (sums[kDimensions] == 0) continue;
    for (std::size_t d = 0; d < kDimensions; ++d)
      centres[c][d] = static_cast<std::int32_t>(sums[d] / sums[kDimensions]);
  }
}

}  // namespace kmeans
