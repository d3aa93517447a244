#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kmeans {

inline constexpr std::size_t kDimensions = 3;
/// Coordinates are whole numbers, so that sums of them are exact: the same in every order, on any number of ranks.
using Point = std::array<std::int32_t, kDimensions>;
/// Coordinates are from 0 to kSide - 1: small enough for squares of distances to fit 32 bits.
inline constexpr std::int32_t kSide = 1 << 14;

/// Point `index` of the fixed random data set: it lies near one of `groups` places.
Point point_of(std::uint64_t index, std::uint64_t groups);

/// The points first … first + count - 1.
std::vector<Point> points_from(std::uint64_t first, std::uint64_t count, std::uint64_t groups);

/// The sums of one step, as one array, so that one all-reduce adds them up over all ranks: for each centre the sum of
/// its points' coordinates and their number; then how many points have changed their centre.
class Sums {
 public:
  explicit Sums(std::size_t centres) : numbers_(centres * (kDimensions + 1) + 1) {}

  std::span<std::int64_t> numbers() { return numbers_; }
  std::int64_t changed() const { return numbers_.back(); }

  /// Assigns each point to its nearest centre, the first one if several are as near, and adds it to that centre's sums.
  /// `nearest` holds the assignment of the step before, and then that of this one.
  void assign(std::span<const Point> points, std::span<const Point> centres,
              std::span<std::uint32_t> nearest);
  /// Moves each centre to the mean of its points, rounded down. A centre without points stays where it is.
  void move(std::span<Point> centres) const;

 private:
  std::vector<std::int64_t> numbers_;
};

}  // namespace kmeans
