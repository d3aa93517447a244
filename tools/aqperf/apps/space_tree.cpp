#include "tools/aqperf/apps/space_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace aqueduct::perf {

namespace {

constexpr std::uint32_t kCut = 8;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// A number from 0 to 1, of the seed `number` and `what` (splitmix64).
double chance(std::uint64_t number, std::uint64_t what) {
  std::uint64_t x = (number * 4 + what + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

std::uint32_t octant(const Place& at, const Place& centre) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < at.size(); ++i) out |= (at[i] >= centre[i] ? 1U : 0U) << i;
  return out;
}

}  // namespace

Place body(std::uint64_t number) {
  const double inner = std::max(chance(number, 0), 1e-6);
  const double radius = std::min(1 / std::sqrt(std::pow(inner, -2.0 / 3) - 1), kSpace);
  const double up = 2 * chance(number, 1) - 1;
  const double around = 2 * std::numbers::pi * chance(number, 2);
  const double flat = std::sqrt(1 - up * up);
  return {radius * flat * std::cos(around), radius * flat * std::sin(around), radius * up};
}

SpaceTree::SpaceTree(std::vector<Place> bodies, std::uint64_t limit) : limit_(limit), costs_(1) {
  bodies_.reserve(bodies.size());
  for (const Place& at : bodies) bodies_.push_back({at, 0});
  count();
}

void SpaceTree::count() {
  std::fill(costs_.begin(), costs_.end(), 0);
  for (const Body& one : bodies_) ++costs_[one.cube];
}

void SpaceTree::next_round() {
  ++round_;
  std::vector<Cube> next;
  std::vector<std::uint32_t> first(cubes_.size(), kNone);  // of its eight parts
  for (std::size_t i = 0; i < cubes_.size(); ++i) {
    if (costs_[i] <= limit_ || round_ == kMostRounds) {
      cost_of_leaves_ += costs_[i];
      dearest_leaf_ = std::max(dearest_leaf_, costs_[i]);
      continue;
    }
    first[i] = static_cast<std::uint32_t>(next.size());
    const double half = cubes_[i].half / 2;
    for (std::uint32_t part = 0; part < kCut; ++part) {
      Cube& cube = next.emplace_back(cubes_[i]);
      cube.half = half;
      for (std::size_t axis = 0; axis < cube.centre.size(); ++axis)
        cube.centre[axis] += (part >> axis & 1) != 0 ? half : -half;
    }
  }
  std::erase_if(bodies_, [&](const Body& one) { return first[one.cube] == kNone; });
  for (Body& one : bodies_) one.cube = first[one.cube] + octant(one.at, cubes_[one.cube].centre);
  cubes_ = std::move(next);
  costs_.resize(cubes_.size());
  count();
}

}  // namespace aqueduct::perf
