#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::perf {

using Place = std::array<double, 3>;

/// Body `number` of a Plummer sphere (Aarseth, Hénon, Wielen, Astron. Astrophys. 37, 1974), inside the cube from -kSpace to kSpace. The
/// same for every number of ranks.
Place body(std::uint64_t number);
inline constexpr double kSpace = 16;

/// How space is divided among bodies, as a tree code begins (requirement HB-07): all ranks add up what each cube of this round costs,
/// cubes above a limit are cut in eight, and the next round has those. A rank has its own bodies; the cubes are the same on all.
class SpaceTree {
 public:
  /// `limit`: of the cost of a cube, which is the number of its bodies.
  SpaceTree(std::vector<Place> bodies, std::uint64_t limit);

  /// What this rank's bodies cost in each cube of this round; none: the tree is built.
  std::span<std::uint64_t> costs() noexcept { return costs_; }
  /// Cuts the cubes, after `costs` has the sums over all ranks.
  void next_round();

  /// Of the cubes that are not cut, what they cost in all, and the dearest one.
  std::uint64_t cost_of_leaves() const noexcept { return cost_of_leaves_; }
  std::uint64_t dearest_leaf() const noexcept { return dearest_leaf_; }

 private:
  struct Cube {
    Place centre{};
    double half = kSpace;
  };
  struct Body {
    Place at{};
    std::uint32_t cube = 0;  // of this round
  };

  static constexpr int kMostRounds = 24;  // chosen: bodies at the same place never come apart

  void count();

  std::uint64_t limit_;
  std::vector<Body> bodies_;  // those in cubes of this round
  std::vector<Cube> cubes_{Cube{}};
  std::vector<std::uint64_t> costs_;
  std::uint64_t cost_of_leaves_ = 0;
  std::uint64_t dearest_leaf_ = 0;
  int round_ = 0;
};

}  // namespace aqueduct::perf
