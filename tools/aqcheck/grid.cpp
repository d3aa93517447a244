#include "tools/aqcheck/grid.hpp"

#include "coll/schedule/tree_recipe.hpp"
#include "tools/aqcheck/blocks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace aqueduct::aqcheck {

using coll::Addresses;
using coll::Operation;
using coll::Order;
using coll::Shape;
using coll::Sync;

namespace {

template <class T>
std::vector<T> distinct(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

bool cuts_blocks(const coll::Parameter& parameter) noexcept { return parameter.name == "segments"; }

/// Of a mesh, whose few choices are enough: rows of one, of three, and longer ones.
bool is_of_mesh(const coll::Parameter& parameter) noexcept {
  return parameter.name == "row" || parameter.name == "rows";
}

/// Values of a parameter: its least, the usual one, and for a radix those about the number of members.
std::vector<std::uint32_t> values_of(const coll::Parameter& parameter, Rank ranks) {
  std::vector<std::uint32_t> values{parameter.least, parameter.usual, 3};
  if (!cuts_blocks(parameter) && !is_of_mesh(parameter))
    values.insert(values.end(), {ranks - 1, ranks, ranks + 1});
  for (std::uint32_t& value : values) value = std::clamp(value, parameter.least, parameter.most);
  return distinct(values);
}

/// A broadcast from root 0 stands for all, unless its algorithm goes by hosts, by a tree of the team, or is the program's. The other operations with a root have blocks, or an order, that begin with
/// member 0 whoever is the root: a few roots about the ends.
std::vector<Rank> roots(Operation operation, bool differs, const Grid& grid) {
  if (!coll::has_root(operation) || grid.light) return {0};
  std::vector<Rank> out{0};
  if (grid.all_roots) {
    for (Rank root = 1; root < grid.ranks; ++root) out.push_back(root);
    return out;
  }
  if (operation == Operation::broadcast && !differs) return out;
  out.push_back(grid.ranks / 2);
  if (grid.every_size) out.insert(out.end(), {1 % grid.ranks, grid.ranks - 1});
  return distinct(out);
}

/// All choices of parameters, one after the other.
std::vector<std::array<std::uint32_t, 3>> choices(const coll::Algorithm& algorithm, Rank ranks) {
  std::vector<std::array<std::uint32_t, 3>> out{{}};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    std::vector<std::array<std::uint32_t, 3>> longer;
    for (std::array<std::uint32_t, 3> choice : out) {
      for (const std::uint32_t value : values_of(algorithm.parameters[i], ranks)) {
        choice[i] = value;
        longer.push_back(choice);
      }
    }
    out = std::move(longer);
  }
  return out;
}

struct Block {
  std::uint32_t element;
  std::uint64_t count;
  std::uint64_t gap;  ///< in elements
};

/// Sizes of a block. Where it is cut into segments: one element more and one less than there are segments. An algorithm
/// that does not cut treats a block of any size alike.
std::vector<Block> blocks(const coll::Algorithm& algorithm, const Shape& shape, const Grid& grid) {
  if (shape.operation == Operation::barrier) return {{1, 0, 0}};
  // No part is empty: a wait before a put of no bytes may as well be a step later.
  if (!grid.every_size || grid.light) return {{2, algorithm.cuts ? std::max(5u, shape.ranks + 1) : 5u, 1}};
  std::vector<std::uint64_t> counts{0, 1, 5};
  if (algorithm.cuts) counts.insert(counts.end(), {shape.ranks - 1, shape.ranks, 2 * shape.ranks + 1});
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const std::uint64_t segments = shape.parameters[i];
    if (cuts_blocks(algorithm.parameters[i]))
      counts.insert(counts.end(), {segments - 1, segments, segments + 1});
  }
  std::vector<Block> out;
  for (const std::uint64_t count : distinct(counts)) out.push_back({1, count, 0});
  out.push_back({8, 3, 2});
  // Blocks of 1 KiB and more may have counters of their own (coll/algorithms/arrivals.hpp).
  const bool may = coll::reduces(shape.operation) || shape.operation == Operation::scatter ||
                   shape.operation == Operation::all_gather || shape.operation == Operation::all_to_all;
  if (may && !algorithm.cuts) out.push_back({1024, 2, 1});
  return out;
}

/// In place these would need a copy of the whole input.
bool has_place(Operation operation) noexcept {
  return operation != Operation::all_to_all && operation != Operation::all_to_all_v &&
         operation != Operation::permute;
}

/// Whether the algorithm refuses the shape, or has other steps, if the operator is not commutative.
bool differs_if_commutative(const coll::Algorithm& algorithm, const Shape& shape) {
  if (!coll::reduces(algorithm.operation)) return false;
  Shape other = shape;
  other.commutative = true;
  const bool refused = algorithm.refusal(shape) != nullptr;
  if (refused != (algorithm.refusal(other) != nullptr)) return true;
  if (refused) return false;
  for (Rank position = 0; position < shape.ranks; ++position) {
    const coll::Schedule here(algorithm, shape, position);
    const coll::Schedule there(algorithm, other, position);
    if (here.lanes() != there.lanes()) return true;
    for (std::uint32_t lane = 0; lane < here.lanes(); ++lane) {
      if (here.length(lane) != there.length(lane)) return true;
      for (std::uint32_t i = 0; i < here.length(lane); ++i) {
        if (!(here.step(lane, i) == there.step(lane, i))) return true;
      }
    }
  }
  return false;
}

/// Members by hosts: by twos and by threes, the last host with fewer; in turns over two hosts; one alone and the others
/// together; in an order of chance over three.
std::vector<std::shared_ptr<const coll::Groups>> groups_of(Rank ranks, const Grid& grid) {
  const std::array<std::function<Rank(Rank)>, 5> hosts{
      [](Rank position) { return position / 2; },
      [](Rank position) { return position / 3; },
      [](Rank position) { return position % 2; },
      [](Rank position) { return position == 0 ? 0u : 1u; },
      [](Rank position) { return position * 7 % 11 % 3; },
  };
  std::vector<std::shared_ptr<const coll::Groups>> out;
  for (const auto& host_of : hosts) {
    auto groups = std::make_shared<const coll::Groups>(ranks, host_of);
    if (groups->are_of_use()) out.push_back(std::move(groups));
    if (!grid.every_size && out.size() == 2) break;
  }
  return out;
}

/// Trees of a team: one whose subtrees are ranges of the team, and one that begins elsewhere; members in an order of chance;
/// a tree within portions and one over them; parents of chance; a mesh.
std::vector<coll::TreeRecipe> recipes_of(Rank ranks, const Grid& grid) {
  std::uint64_t state = ranks * 0x9e3779b97f4a7c15u + 7;
  const auto below = [&](std::uint64_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<Rank>((state >> 33) % limit);
  };
  std::vector<Rank> order(ranks);
  std::iota(order.begin(), order.end(), Rank{0});
  for (Rank i = ranks; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  coll::TreeRecipe parents;
  parents.parents.assign(ranks, kNoRank);
  for (Rank i = 1; i < ranks; ++i) parents.parents[order[i]] = order[below(i)];
  std::vector<Rank> turned(order);
  std::iota(turned.begin(), turned.end(), ranks / 2);
  for (Rank& member : turned) member = member < ranks ? member : member - ranks;

  std::vector<coll::TreeRecipe> out{coll::read_tree_recipe("2-nomial").recipe, parents};
  if (!grid.every_size) return out;
  out.push_back(coll::read_tree_recipe("4-ary").recipe);
  out.back().order = turned;
  out.push_back(coll::read_tree_recipe("3-nomial").recipe);
  out.back().order = order;
  out.push_back(coll::read_tree_recipe("3-ary over 2-nomial portion=3").recipe);
  out.push_back(coll::read_tree_recipe("chain over flat portion=4").recipe);
  out.back().order = order;
  out.push_back(coll::read_tree_recipe("fork:3x2").recipe);
  return out;
}

constexpr Sync kSyncModes[] = {Sync::none, Sync::mine, Sync::all};

/// Visits the case with every choice of whose outputs peers reach, and of the passes before and after.
void for_each_reach(Case& made, const Grid& grid, const std::function<void(const Case&)>& visit) {
  const coll::Algorithm& algorithm = *made.algorithm;
  Shape& shape = made.shape;
  const bool barrier = shape.operation == Operation::barrier;
  for (const auto reached : {Case::Reached::none, Case::Reached::odd, Case::Reached::all}) {
    const bool announced = coll::Announced::needed(algorithm, shape) && grid.ranks > 1;
    if (reached != Case::Reached::none && !announced) continue;
    made.reached = reached;
    visit(made);
    // The same algorithm between other passes. Two members have no other ones, and hosts have their own.
    const bool passes = !barrier && (shape.in == Sync::all || shape.out == Sync::all);
    if (!passes || made.in_place || grid.ranks < 3 || algorithm.hosts) continue;
    shape.few_signals = true;
    visit(made);
    shape.few_signals = false;
  }
}

/// Visits the case in all sync modes, with and without known addresses, in place and not.
void for_each_mode(Case& made, const Grid& grid, const std::function<void(const Case&)>& visit) {
  Shape& shape = made.shape;
  const bool barrier = shape.operation == Operation::barrier;
  for (const Sync in : kSyncModes) {
    for (const Sync out : kSyncModes) {
      for (const Addresses addresses : {Addresses::local, Addresses::single}) {
        if (grid.light && !barrier && (in != out || addresses != Addresses::single)) continue;
        if (barrier && (in != Sync::none || out != Sync::none || addresses != Addresses::local)) continue;
        if (made.blocks != nullptr && addresses != Addresses::local) continue;  // they use no addresses
        for (const bool in_place : {false, true}) {
          shape.in = in;
          shape.out = out;
          shape.addresses = addresses;
          made.in_place = in_place;
          if (in_place && (barrier || grid.light || made.blocks != nullptr || !has_place(shape.operation)))
            continue;
          if (coll::Schedule::refusal(*made.algorithm, shape) != nullptr) continue;
          for_each_reach(made, grid, visit);
        }
      }
    }
  }
}

/// Blocks that are alike, of the grid's sizes, with every parameter, root and order.
void for_each_size(Case& made, const Grid& grid, const std::function<void(const Case&)>& visit) {
  const coll::Algorithm& algorithm = *made.algorithm;
  Shape& shape = made.shape;
  for (const auto& parameters : choices(algorithm, grid.ranks)) {
    shape.parameters = parameters;
    for (const Block& block : blocks(algorithm, shape, grid)) {
      shape.element = block.element;
      shape.bytes = block.count * block.element;
      shape.pitch = shape.bytes + block.gap * block.element;
      for (const Rank root :
           roots(algorithm.operation, algorithm.hosts || algorithm.team_tree || algorithm.added != nullptr,
                 grid)) {
        shape.root = root;
        for (const Order order : {Order::same_everywhere, Order::exact}) {
          if (order == Order::exact && !coll::reduces(algorithm.operation)) continue;
          shape.order = order;
          // What is right without commutativity is right with it, unless the algorithm then does something else.
          shape.commutative = false;
          if (differs_if_commutative(algorithm, shape)) {
            shape.commutative = true;
            for_each_mode(made, grid, visit);
            shape.commutative = false;
          }
          for_each_mode(made, grid, visit);
        }
      }
      shape.root = 0;
    }
  }
}

/// Blocks that differ: in one run, and the first and a later one of several.
void for_each_part(Case& made, const Grid& grid, const std::function<void(const Case&)>& visit) {
  struct Part {
    std::uint64_t begin;
    std::uint64_t bytes;
  };
  std::vector<Part> parts{{0, 7}};
  if (grid.every_size) parts.insert(parts.end(), {{0, 3}, {3, 3}, {6, 3}});
  Shape& shape = made.shape;
  shape.element = 1;
  shape.order = Order::same_everywhere;
  std::uint32_t seed = 0;
  for (const Part& part : parts) {
    for (const Rank root : roots(shape.operation, false, grid)) {
      shape.root = root;
      shape.bytes = shape.pitch = part.bytes;
      made.blocks = chance_blocks(shape, 7, part.begin, ++seed);
      for_each_mode(made, grid, visit);
    }
  }
}

void for_each_case_with(Case made, const Grid& grid, const std::function<void(const Case&)>& visit) {
  made.shape.operation = made.algorithm->operation;
  made.shape.ranks = grid.ranks;
  for_each_size(made, grid, visit);
  if (has_blocks(made.shape.operation) && !grid.light) for_each_part(made, grid, visit);
}

}  // namespace

void for_each_case(const coll::Algorithm& algorithm, const Grid& grid,
                   const std::function<void(const Case&)>& visit) {
  Case made;
  made.algorithm = &algorithm;
  made.shape.added.of = algorithm.added;
  if (algorithm.team_tree) {
    for (const coll::TreeRecipe& recipe : recipes_of(grid.ranks, grid)) {
      made.tree = std::make_shared<const coll::TeamTree>(recipe.tree(grid.ranks, nullptr));
      made.tree_text = recipe.text();
      made.shape.team_tree.of = made.tree.get();
      for_each_case_with(made, grid, visit);
    }
    return;
  }
  if (!algorithm.hosts) return for_each_case_with(made, grid, visit);
  for (const auto& groups : groups_of(grid.ranks, grid)) {
    made.groups = groups;
    made.shape.groups.of = groups.get();
    for_each_case_with(made, grid, visit);
  }
}

bool shifts_with_the_root(const coll::Algorithm& algorithm, const Shape& shape) {
  Shape at_zero = shape;
  at_zero.root = 0;
  for (Rank position = 0; position < shape.ranks; ++position) {
    const coll::Schedule here(algorithm, shape, position);
    const Rank shifted = coll::relative(position, shape.root, shape.ranks);
    const coll::Schedule there(algorithm, at_zero, shifted);
    if (here.lanes() != there.lanes()) return false;
    for (std::uint32_t lane = 0; lane < here.lanes(); ++lane) {
      if (here.length(lane) != there.length(lane)) return false;
      for (std::uint32_t i = 0; i < here.length(lane); ++i) {
        coll::Step step = here.step(lane, i);
        if (step.peer != kNoRank) step.peer = coll::relative(step.peer, shape.root, shape.ranks);
        if (!(step == there.step(lane, i))) return false;
      }
    }
  }
  return true;
}

}  // namespace aqueduct::aqcheck
