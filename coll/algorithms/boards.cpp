#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace aqueduct::coll {

namespace {

// The algorithms of a team's board: coll/shared carries them out. A schedule of them has no steps. What they cost is counted
// in lines that move from one member's cache to another's.

Needs no_needs(const Shape&) noexcept { return {}; }
std::uint32_t no_steps(const Shape&, Rank, std::uint32_t) noexcept { return 0; }
Step no_step(const Shape&, Rank, std::uint32_t, std::uint32_t) noexcept { return {}; }

bool is_rooted(const Shape& shape) noexcept { return has_root(shape.operation); }

Cost flat_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  const std::uint64_t pairs = is_rooted(shape) ? ranks - 1 : ranks * (ranks - 1);
  return {.messages = pairs,
          .bytes = pairs * 64 * lines_of_payload(shape.bytes),
          .depth = 1,
          .depth_is_limit = true};
}
/// At most, whatever domains of memory there are: each has as many members as the largest can have. Without domains as `flags-flat`.
Cost domain_lines_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  Cost cost = flat_cost(shape);
  cost.depth = 3;
  for (std::uint64_t domains = 2; domains < ranks; ++domains) {
    const std::uint64_t largest = ranks - domains + 1;
    const std::uint64_t inside =
        (ranks - domains) * (lines_of_payload(shape.bytes) + lines_of_payload(ranks * shape.bytes));
    const std::uint64_t across = domains * (domains - 1) * lines_of_payload(largest * shape.bytes);
    cost.bytes = std::max(cost.bytes, 64 * (inside + across));
  }
  return cost;
}
/// Each publishes, and counts itself; the last one reads all, and the others read what it says.
Cost last_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  return {.messages = 3 * ranks,
          .bytes = 64 * (ranks + 2 * ranks * lines_of_payload(shape.bytes)),
          .depth = 2,
          .depth_is_limit = true};
}
/// Rounds until all ranks are reached, if each round reaches `radix` times as many.
std::uint32_t rounds_of(std::uint64_t ranks, std::uint64_t radix) noexcept {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < ranks; reached *= radix) ++rounds;
  return rounds;
}
Cost tree_cost(const Shape& shape) noexcept {
  const bool both = shape.operation == Operation::all_reduce || shape.operation == Operation::barrier;
  const std::uint64_t edges = std::uint64_t{shape.ranks} - 1;
  const std::uint32_t ways = both ? 2 : 1;
  return {.messages = ways * edges,
          .bytes = ways * edges * 64 * lines_of_payload(shape.bytes),
          .depth = ways * rounds_of(shape.ranks, shape.parameters[0]),
          .depth_is_limit = true};
}
Cost dissemination_cost(const Shape& shape) noexcept {
  // With members for which others take part: one round fewer, and two movements more.
  const std::uint32_t rounds = rounds_of(shape.ranks, 2) + (std::has_single_bit(shape.ranks) ? 0 : 1);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{rounds} * shape.ranks * 64 * lines_of_payload(shape.bytes),
          .depth = rounds,
          .depth_is_limit = true};
}
Cost chain_cost(const Shape& shape) noexcept {
  const std::uint32_t edges = shape.ranks - 1;
  return {.messages = edges,
          .bytes = std::uint64_t{edges} * 64 * lines_of_payload(shape.bytes),
          .depth = edges,
          .depth_is_limit = true};
}

const char* tree_refusal(const Shape& shape) noexcept {
  if (!reduces(shape.operation)) return nullptr;
  if (shape.order == Order::exact && shape.ranks > 2)
    return "it combines partial results, which order exact forbids";
  if (!shape.commutative && shape.operation == Operation::reduce && shape.root != 0)
    return "the members of its tree are in team order only if member 0 is the root";
  return nullptr;
}
const char* dissemination_refusal(const Shape& shape) noexcept {
  if (!reduces(shape.operation)) return nullptr;
  if (!shape.commutative) return "it does not keep team order";
  if (shape.order == Order::exact && shape.ranks > 2)
    return "it combines partial results, which order exact forbids";
  return nullptr;
}

// Of large operations. `bytes` are those that a member copies, or reads to combine them.

Cost mapped_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  const std::uint64_t pairs = is_rooted(shape) ? ranks - 1 : ranks * (ranks - 1);
  return {.messages = 2 * pairs, .bytes = pairs * shape.bytes, .depth = 2, .depth_is_limit = true};
}
/// The block goes down, and then it is said upwards who has it. Without domains; cost_on_board knows these.
Cost large_tree_cost(const Shape& shape) noexcept {
  Cost cost = mapped_cost(shape);
  cost.depth = 2 * levels_of_tree(shape.ranks, shape.parameters[0]);
  return cost;
}
/// Each of those with others below reads its own contribution and theirs, once; an all-reduce's result goes back in one step.
/// Without domains, as the broadcast's: a member more may have others below it.
Cost up_tree_cost(const Shape& shape) noexcept {
  const std::uint64_t edges = std::uint64_t{shape.ranks} - 1;
  const std::uint64_t radix = shape.parameters[0];
  const std::uint64_t parents = (edges + radix - 1) / radix;
  const std::uint32_t ways = shape.operation == Operation::all_reduce ? 2 : 1;
  return {.messages = 2 * ways * edges,
          .bytes = (ways * edges + parents) * shape.bytes,
          .depth = 1 + levels_of_tree(shape.ranks, radix) + (ways - 1),
          .depth_is_limit = true};
}
Cost two_stage_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  return {.messages = 3 * ranks * (ranks - 1),
          .bytes = (ranks - 1) * shape.bytes,
          .depth = 3,
          .depth_is_limit = true};
}
/// Each contribution is read once, and of an all-reduce each result copied to all others.
Cost tiles_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  const std::uint64_t blocks = shape.operation == Operation::reduce_scatter ? ranks : 1;
  const std::uint64_t copies = shape.operation == Operation::all_reduce ? ranks - 1 : 0;
  return {.messages = 2 * ranks * (ranks - 1),
          .bytes = (ranks * blocks + copies) * shape.bytes,
          .depth = 2,
          .depth_is_limit = true};
}
/// At most as much as without domains, and of a reduce-scatter partial results, of at most half as many domains as members; waits in
/// more stages.
Cost domain_tiles_cost(const Shape& shape) noexcept {
  Cost cost = tiles_cost(shape);
  cost.depth = shape.operation == Operation::all_reduce ? 5 : 3;
  if (shape.operation == Operation::reduce_scatter)
    cost.bytes += std::uint64_t{shape.ranks} * (shape.ranks / 2) * shape.bytes;
  return cost;
}
Cost domain_blocks_cost(const Shape& shape) noexcept {
  Cost cost = mapped_cost(shape);
  if (shape.operation == Operation::all_gather) cost.depth = 3;
  return cost;
}
Cost claims_cost(const Shape& shape) noexcept {
  Cost cost = tiles_cost(shape);
  cost.messages = shape.ranks * (std::uint64_t{shape.ranks} - 1) + 2 * shape.ranks;
  return cost;
}

/// All that a member gives is copied into slots, and out of them by each that takes it. Of an all-reduce of more than two members
/// each combines a part, and the results go the same way.
Cost stream_cost(const Shape& shape) noexcept {
  const std::uint64_t ranks = shape.ranks;
  const std::uint64_t others = ranks - 1;
  switch (shape.operation) {
    case Operation::all_gather:
      return {.messages = ranks * others,
              .bytes = (ranks + ranks * others) * shape.bytes,
              .depth = 1,
              .depth_is_limit = true};
    case Operation::all_to_all:
    case Operation::reduce_scatter:
      return {.messages = ranks * others,
              .bytes = (ranks * ranks + ranks * others) * shape.bytes,
              .depth = 1,
              .depth_is_limit = true};
    case Operation::all_reduce: {
      const std::uint64_t twice = ranks > 2 ? 2 : 1;
      const std::uint64_t blocks = twice == 1 ? ranks + ranks * others : ranks + others + 1 + others;
      return {.messages = twice * ranks * others,
              .bytes = blocks * shape.bytes,
              .depth = static_cast<std::uint32_t>(twice),
              .depth_is_limit = true};
    }
    default:
      return {.messages = others, .bytes = 2 * others * shape.bytes, .depth = 1, .depth_is_limit = true};
  }
}

/// Each member begins with its own contribution, so the order is another one in each tile.
const char* cyclic_refusal(const Shape& shape) noexcept {
  if (!shape.commutative) return "it does not keep team order";
  if (shape.order == Order::exact && shape.ranks > 1)
    return "it combines from each member's own contribution on, which order exact forbids";
  return shape.element > 4096 ? "an element is longer than what it combines at once" : nullptr;
}
const char* tiles_refusal(const Shape& shape) noexcept {
  return shape.element > 4096 ? "an element is longer than what it combines at once" : nullptr;
}
const char* up_tree_refusal(const Shape& shape) noexcept {
  const char* const why = tree_refusal(shape);
  return why != nullptr ? why : tiles_refusal(shape);
}

constexpr std::array kTreeParameters{
    Parameter{.name = "radix", .least = 2, .most = 64, .usual = 4},
    Parameter{.name = "up", .least = 1, .most = 2, .usual = 1},
    Parameter{.name = "down", .least = 1, .most = 2, .usual = 2},
};
/// Each member more below another one is one more that it waits for (requirement H-14).
constexpr std::array kUpTreeParameters{Parameter{.name = "radix", .least = 2, .most = 64, .usual = 2}};

constexpr Algorithm flat(Operation operation) noexcept {
  return {.name = "flags-flat",
          .operation = operation,
          .parameters = {},
          .board = BoardMethod::flat,
          .refusal = no_refusal,
          .needs = no_needs,
          .lanes = one_lane,
          .length = no_steps,
          .step = no_step,
          .cost = flat_cost};
}
constexpr Algorithm of_board(Operation operation, std::string_view name, BoardMethod board,
                             Cost (*cost)(const Shape&) noexcept) noexcept {
  Algorithm algorithm = flat(operation);
  algorithm.name = name;
  algorithm.board = board;
  algorithm.cost = cost;
  return algorithm;
}
constexpr Algorithm last(Operation operation) noexcept {
  return of_board(operation, "flags-last", BoardMethod::last, last_cost);
}
constexpr Algorithm tree(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "flags-tree", BoardMethod::tree, tree_cost);
  algorithm.parameters = kTreeParameters;
  algorithm.refusal = tree_refusal;
  return algorithm;
}
constexpr Algorithm dissemination(Operation operation) noexcept {
  Algorithm algorithm =
      of_board(operation, "flags-dissemination", BoardMethod::dissemination, dissemination_cost);
  algorithm.refusal = dissemination_refusal;
  return algorithm;
}
constexpr Algorithm chain(Operation operation) noexcept {
  return of_board(operation, "flags-chain", BoardMethod::chain, chain_cost);
}

constexpr Algorithm domain_lines(Operation operation) noexcept {
  return of_board(operation, "flags-domains", BoardMethod::domain_lines, domain_lines_cost);
}

constexpr Algorithm mapped(Operation operation) noexcept {
  return of_board(operation, "mapped", BoardMethod::mapped, mapped_cost);
}
constexpr Algorithm two_stage(Operation operation) noexcept {
  return of_board(operation, "mapped-two-stage", BoardMethod::two_stage, two_stage_cost);
}
constexpr Algorithm tiles(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "mapped-tiles", BoardMethod::tiles, tiles_cost);
  algorithm.refusal = tiles_refusal;
  return algorithm;
}
constexpr Algorithm cyclic_tiles(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "mapped-cyclic-tiles", BoardMethod::cyclic_tiles, tiles_cost);
  algorithm.refusal = cyclic_refusal;
  return algorithm;
}
constexpr Algorithm domains(Operation operation) noexcept {
  return of_board(operation, "mapped-domains", BoardMethod::domains, mapped_cost);
}
constexpr Algorithm large_tree(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "mapped-tree", BoardMethod::large_tree, large_tree_cost);
  algorithm.parameters = std::span(kTreeParameters).first(1);
  return algorithm;
}
constexpr Algorithm up_tree(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "mapped-tree", BoardMethod::large_tree, up_tree_cost);
  algorithm.parameters = kUpTreeParameters;
  algorithm.refusal = up_tree_refusal;
  return algorithm;
}
constexpr Algorithm domain_blocks(Operation operation) noexcept {
  return of_board(operation, "mapped-domain-blocks", BoardMethod::domain_blocks, domain_blocks_cost);
}
constexpr Algorithm domain_tiles(Operation operation) noexcept {
  Algorithm algorithm =
      of_board(operation, "mapped-domain-tiles", BoardMethod::domain_tiles, domain_tiles_cost);
  algorithm.refusal = tiles_refusal;
  return algorithm;
}
constexpr Algorithm claims(Operation operation) noexcept {
  Algorithm algorithm = of_board(operation, "mapped-claims", BoardMethod::claims, claims_cost);
  algorithm.refusal = tiles_refusal;
  return algorithm;
}
constexpr Algorithm stream(Operation operation) noexcept {
  return of_board(operation, "flags-stream", BoardMethod::stream, stream_cost);
}

constexpr std::array kBoards{
    flat(Operation::broadcast),
    tree(Operation::broadcast),
    last(Operation::broadcast),
    mapped(Operation::broadcast),
    two_stage(Operation::broadcast),
    domains(Operation::broadcast),
    large_tree(Operation::broadcast),
    stream(Operation::broadcast),
    flat(Operation::scatter),
    last(Operation::scatter),
    mapped(Operation::scatter),
    stream(Operation::scatter),
    flat(Operation::gather),
    last(Operation::gather),
    mapped(Operation::gather),
    stream(Operation::gather),
    flat(Operation::all_gather),
    last(Operation::all_gather),
    domain_lines(Operation::all_gather),
    mapped(Operation::all_gather),
    domain_blocks(Operation::all_gather),
    stream(Operation::all_gather),
    flat(Operation::all_to_all),
    last(Operation::all_to_all),
    mapped(Operation::all_to_all),
    domain_blocks(Operation::all_to_all),
    stream(Operation::all_to_all),
    flat(Operation::reduce),
    tree(Operation::reduce),
    last(Operation::reduce),
    tiles(Operation::reduce),
    cyclic_tiles(Operation::reduce),
    up_tree(Operation::reduce),
    domain_tiles(Operation::reduce),
    claims(Operation::reduce),
    stream(Operation::reduce),
    flat(Operation::all_reduce),
    tree(Operation::all_reduce),
    last(Operation::all_reduce),
    dissemination(Operation::all_reduce),
    tiles(Operation::all_reduce),
    cyclic_tiles(Operation::all_reduce),
    up_tree(Operation::all_reduce),
    domain_tiles(Operation::all_reduce),
    claims(Operation::all_reduce),
    stream(Operation::all_reduce),
    flat(Operation::reduce_scatter),
    last(Operation::reduce_scatter),
    tiles(Operation::reduce_scatter),
    cyclic_tiles(Operation::reduce_scatter),
    domain_tiles(Operation::reduce_scatter),
    claims(Operation::reduce_scatter),
    stream(Operation::reduce_scatter),
    flat(Operation::scan),
    last(Operation::scan),
    chain(Operation::scan),
    flat(Operation::exscan),
    last(Operation::exscan),
    chain(Operation::exscan),
};

}  // namespace

std::span<const Algorithm> board_algorithms() noexcept { return kBoards; }

std::uint64_t lines_of_payload(std::uint64_t bytes) noexcept {
  if (bytes <= 48) return 1;  // beside the number
  return bytes <= 112 ? 2 : 1 + (bytes + 63) / 64;
}

// The first member with `levels` edges above it has as many digits in its number, each of them 1.
std::uint32_t levels_of_tree(std::uint64_t ranks, std::uint64_t radix) noexcept {
  std::uint32_t levels = 0;
  for (std::uint64_t first = 1; first < ranks; first = first * radix + 1) ++levels;
  return levels;
}

const Algorithm* board_algorithm(Operation operation, BoardMethod method) noexcept {
  for (const Algorithm& algorithm : kBoards) {
    if (algorithm.operation == operation && algorithm.board == method) return &algorithm;
  }
  return nullptr;
}

}  // namespace aqueduct::coll
