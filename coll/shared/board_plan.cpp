#include "coll/shared/board_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace aqueduct::coll {

namespace {

/// Chosen: with more members, each one's look at all the others costs more than a second movement.
constexpr Rank kMostThatExchange = 4;
/// Chosen: as a `flags-tree` has.
constexpr std::uint32_t kRadixOfEnds = 4;

class Planner {
 public:
  Planner(BoardPlan& plan, const Algorithm& algorithm, const Shape& shape,
          const topology::Placement* placement)
      : plan_(plan), method_(algorithm.board), shape_(shape), placement_(placement) {}

  void run() {
    switch (method_) {
      case BoardMethod::last: return single(Move::last);
      case BoardMethod::dissemination: return rounds_only();
      case BoardMethod::tree: return tree();
      case BoardMethod::mapped:
      case BoardMethod::two_stage:
      case BoardMethod::domain_blocks:
      case BoardMethod::tiles:
      case BoardMethod::cyclic_tiles:
      case BoardMethod::domain_tiles:
      case BoardMethod::claims: return large();
      case BoardMethod::large_tree:
        if (reduces(shape_.operation)) return up_a_tree();
        [[fallthrough]];
      case BoardMethod::domains: return down_a_tree();
      case BoardMethod::stream: return stream();
      case BoardMethod::domain_lines: return lines_by_domains();
      default: return flat();
    }
  }

 private:
  bool in_all() const noexcept { return shape_.in == Sync::all; }
  bool out_all() const noexcept { return shape_.out == Sync::all; }

  void add(Move move, bool data, std::uint8_t heard, std::uint32_t level = 0) noexcept {
    plan_.movement[plan_.movements++] = {.move = move,
                                         .data = data && plan_.payload != 0,
                                         .level = static_cast<std::uint8_t>(level),
                                         .heard = heard};
  }
  /// Ends when all have begun it.
  void everybody(bool data = false) noexcept {
    if (method_ == BoardMethod::last) return add(Move::last, data, 0);
    if (method_ == BoardMethod::dissemination) return rounds(data);
    if (method_ == BoardMethod::tree || method_ == BoardMethod::large_tree || plan_.domains.count != 0) {
      add(Move::tree_up, data, Movement::kNothing);
      return add(Move::tree_down, data, 1);
    }
    if (data || plan_.ranks <= kMostThatExchange) return add(Move::exchange, data, 0);
    add(Move::up, false, Movement::kNothing);
    add(Move::down, false, 1);
  }
  void rounds(bool data) noexcept {
    const std::uint32_t all = plan_.in_rounds.rounds;
    const bool helps = std::uint64_t{1} << all != plan_.ranks;
    if (helps) add(Move::help, data, Movement::kNothing);
    for (std::uint32_t i = 0; i < all; ++i)
      add(Move::round, data, !helps && i + 1 == all ? static_cast<std::uint8_t>(i) : Movement::kNothing, i);
    if (helps) add(Move::tell, data, static_cast<std::uint8_t>(all + 1));
  }
  /// Operations of which everybody's part depends on everybody, or may.
  void single(Move) noexcept {
    if (in_all()) everybody();
    everybody(true);
    if (out_all()) everybody();
  }
  void rounds_only() {
    plan_.in_rounds =
        place_in_rounds(may_go_by_domains(placement_, shape_) ? placement_ : nullptr, plan_.ranks, plan_.me);
    single(Move::round);
  }

  void rooted_down(Move up, Move down) noexcept {
    if (in_all()) add(up, false, Movement::kNothing);
    add(down, true, in_all() ? 1 : Movement::kNothing);
    if (!out_all()) return;
    add(up, false, Movement::kNothing);
    add(down, false, 1);  // also with two members: the root may be copying its own block
  }
  void rooted_up(Move up, Move down) noexcept {
    if (in_all()) everybody();
    add(up, true, Movement::kNothing);
    if (out_all()) add(down, false, 1);
  }
  void flat() noexcept {
    switch (shape_.operation) {
      case Operation::broadcast:
      case Operation::scatter:
        if (plan_.ranks == 2 && in_all() && out_all()) return add(Move::meet, true, 0);
        return rooted_down(Move::up, Move::down);
      case Operation::gather:
      case Operation::reduce: return rooted_up(Move::up, Move::down);
      case Operation::scan:
      case Operation::exscan:
        if (in_all()) everybody();
        // Of those behind it, a member hears nothing.
        add(method_ == BoardMethod::chain ? Move::chain : Move::exchange, true, Movement::kNothing);
        if (out_all()) everybody();
        return;
      default: return single(Move::exchange);
    }
  }
  /// A short all-gather. Without domains all look at all.
  void lines_by_domains() {
    if (plan_.domains.count == 0) return single(Move::exchange);
    plan_tree(kRadixOfEnds);
    if (in_all()) everybody();
    add(Move::collect, true, Movement::kNothing);
    add(Move::cross, true, Movement::kNothing);
    add(Move::spread, true, 2);
    if (out_all()) everybody();
  }
  /// Members tell where their buffers are, move bytes, and wait until nobody needs their buffers any more.
  void large() {
    const bool from_root = method_ == BoardMethod::mapped && has_root(shape_.operation);
    if (from_root) {
      if (in_all()) add(Move::up, false, Movement::kNothing);
      add(Move::down, false, in_all() ? 1 : Movement::kNothing);
    } else {
      add(Move::exchange, false, 0);
    }
    plan_.movement[plan_.movements - 1].notes = true;
    add(Move::work, false, Movement::kNothing, 0);
    if (plan_.domains.count != 0) {
      plan_tree(kRadixOfEnds);
      if (shape_.operation == Operation::all_reduce) tiles_by_domains();
      if (shape_.operation == Operation::all_gather) blocks_by_domains();
      return everybody();
    }
    if (from_root) {
      add(Move::up, false, Movement::kNothing);
      // Also with two members: the root may be copying its own block.
      if (out_all()) add(Move::down, false, 1);
      return;
    }
    // The last claimed tile ends the operation, and the pieces of one that goes through the board need no end.
    if (method_ == BoardMethod::claims) {
      if (out_all()) everybody();
      return;
    }
    everybody();
    if (method_ != BoardMethod::two_stage) return;
    add(Move::work, false, Movement::kNothing, 1);
    everybody();
  }
  /// The stages behind the first: what domains have is combined, then copied to the others, and inside each.
  void tiles_by_domains() noexcept {
    add(Move::partners, false, Movement::kNothing);
    add(Move::work, false, Movement::kNothing, 1);
    add(Move::partners, false, Movement::kNothing);
    add(Move::work, false, Movement::kNothing, 2);
    add(Move::mates, false, Movement::kNothing);
    add(Move::work, false, Movement::kNothing, 3);
  }
  /// The stage behind the first, in which blocks came from other domains: members copy them from those of their domain.
  void blocks_by_domains() noexcept {
    add(Move::mates, false, Movement::kNothing);
    add(Move::work, false, Movement::kNothing, 1);
  }
  /// From each member to those below it in the tree; a member leaves when these have what they need.
  void down_a_tree() {
    // By domains alone: one step from each to those below it.
    plan_tree(method_ == BoardMethod::large_tree ? shape_.parameters[0] : radix_of_one_step());
    if (in_all()) add(Move::tree_up, false, Movement::kNothing);
    add(Move::work, false, Movement::kNothing);
    add(Move::tree_up, false, Movement::kNothing);
    if (out_all()) add(Move::tree_down, false, 1);
  }
  /// From each member to the one above it in the tree. The result of an all-reduce goes back by domains alone: caches serve many
  /// readers at once (requirement H-19).
  void up_a_tree() {
    plan_tree(shape_.parameters[0]);
    const bool all = shape_.operation == Operation::all_reduce;
    if (all) {
      TreePlace down = place(radix_of_one_step());
      plan_.source = down.parent;
      plan_.readers = std::move(down.children);
    }
    if (in_all()) everybody();
    add(Move::work, false, Movement::kNothing);
    if (!out_all()) return;
    if (all) return everybody();
    add(Move::tree_down, false, Movement::kNothing);
  }
  /// Pieces from all that give to all that take; nobody waits but for a piece, and for room.
  void stream() {
    const bool rooted = has_root(shape_.operation);
    const bool down = shape_.operation == Operation::broadcast || shape_.operation == Operation::scatter;
    if (in_all() && down) add(Move::up, false, Movement::kNothing);
    if (in_all() && !down) everybody();
    add(Move::work, false, Movement::kNothing);
    if (!out_all()) return;
    if (!rooted) return everybody();
    if (down) add(Move::up, false, Movement::kNothing);
    add(Move::down, false, 1);  // also with two members: the root may be copying its own block
  }
  void tree() {
    plan_tree(shape_.parameters[0]);
    plan_.push_up = shape_.parameters[1] == 2;
    plan_.push_down = shape_.parameters[2] == 2;
    switch (shape_.operation) {
      case Operation::broadcast: return rooted_down(Move::tree_up, Move::tree_down);
      case Operation::reduce: return rooted_up(Move::tree_up, Move::tree_down);
      default: return single(Move::tree_up);
    }
  }
  /// One step from each member to those below it.
  std::uint32_t radix_of_one_step() const noexcept { return std::max<std::uint32_t>(plan_.ranks, 2); }
  void plan_tree(std::uint32_t radix) {
    TreePlace in_tree = place(radix);
    plan_.parent = in_tree.parent;
    plan_.children = std::move(in_tree.children);
  }
  /// The k-nomial tree: a member's subtree is the members from it on, as many as its lowest digit that is not 0 stands
  /// for. So the subtrees of its children follow each other in the order of the members, from the root on.
  TreePlace place(std::uint32_t radix) const {
    if (may_go_by_domains(placement_, shape_)) return place_in_tree(*placement_, plan_.me, plan_.root, radix);
    TreePlace out;
    const std::uint64_t ranks = plan_.ranks;
    const std::uint64_t relative = (plan_.me + ranks - plan_.root) % ranks;
    const auto member = [&](std::uint64_t at) { return static_cast<Rank>((at + plan_.root) % ranks); };
    for (std::uint64_t unit = 1; unit < ranks; unit *= radix) {
      const std::uint64_t digit = relative / unit % radix;
      if (digit != 0) {
        out.parent = member(relative - digit * unit);
        break;
      }
      for (std::uint64_t i = 1; i < radix && relative + i * unit < ranks; ++i)
        out.children.push_back(member(relative + i * unit));
    }
    return out;
  }

  BoardPlan& plan_;
  BoardMethod method_;
  const Shape& shape_;
  const topology::Placement* placement_;
};

/// Bytes that tiles are a multiple of: whole elements, and whole lines.
std::uint64_t unit_of(std::uint64_t element) noexcept { return std::lcm(element, std::uint64_t{64}); }

/// As many bytes as fit into `room`: whole units, or whole elements if not even one unit fits.
std::uint64_t whole_within(std::uint64_t room, std::uint64_t unit, std::uint64_t element) noexcept {
  return room >= unit ? room / unit * unit : room / element * element;
}

/// Bytes of the longest tile, of an operation that goes by domains; of a reduce-scatter, of a block.
std::uint64_t longest_tile(const BoardPlan& plan) noexcept {
  if (plan.operation == Operation::reduce_scatter) return plan.bytes;
  const std::uint64_t units = (plan.bytes + plan.unit - 1) / plan.unit;
  return (units + plan.domains.tiles - 1) / plan.domains.tiles * plan.unit;
}

/// Whether there are outputs for partial results of domains only at the root, or nowhere.
constexpr bool partials_need_slots(Operation operation) noexcept {
  return operation == Operation::reduce || operation == Operation::reduce_scatter;
}

// Chosen: several tiles for each member.
constexpr std::uint64_t kLeastTile = 4096;
// Chosen: a copy of the system costs 1.5 us, as much as 16 KiB of it. Where processors are shared, the sum over the members counts.
constexpr std::uint64_t kLeastCopiedTile = 16384;
constexpr std::uint64_t kLeastCopiedClaim = 32768;

void plan_tiles(BoardPlan& plan, const Shape& shape, const TileSizes& sizes) noexcept {
  const std::uint64_t unit = unit_of(shape.element);
  const bool claims = plan.method == BoardMethod::claims;
  std::uint64_t tile = shape.bytes / plan.ranks;
  if (claims) tile = shape.bytes / 16;
  tile = std::clamp(tile, kLeastTile, sizes.most);
  const std::uint64_t blocks = shape.operation == Operation::reduce_scatter ? plan.ranks : 1;
  tile = std::max(tile, shape.bytes / (kMostTiles / blocks));
  const auto whole = [&](std::uint64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  plan.tile = whole(tile);
  // Chosen: a piece that a member reads while the one before it goes on to the next members.
  if (goes_down_a_tree(plan.method)) plan.tile = sizes.most;
  plan.at_once = sizes.at_once;
  plan.copied_tile = whole(std::max(tile, claims ? kLeastCopiedClaim : kLeastCopiedTile));
}

}  // namespace

std::uint64_t piece_through(const Shape& shape, const BoardRoom& room) noexcept {
  const std::uint64_t blocks = payload_of(shape) == shape.bytes ? 1 : shape.ranks;
  return whole_within(room.payload() / blocks, unit_of(shape.element), shape.element);
}

void count_pieces(BoardPlan& plan) noexcept {
  const auto so_many = [](std::uint64_t bytes, std::uint64_t in_one) {
    return bytes == 0 ? std::uint64_t{1} : (bytes - 1) / in_one + 1;
  };
  plan.through = so_many(plan.bytes, plan.piece) * (plan.twice ? 2 : 1) + (plan.meets ? 1 : 0);
  plan.pieces = plan.through;
  if (goes_up_a_tree(plan.method, plan.operation)) {
    plan.strips = so_many(plan.bytes, plan.strip);
    plan.pieces = 2 + plan.strips * (plan.operation == Operation::all_reduce ? 2 : 1);
    return;
  }
  if (goes_down_a_tree(plan.method)) plan.pieces = std::max(plan.pieces, 1 + so_many(plan.bytes, plan.tile));
  if (plan.domains.count != 0 && partials_need_slots(plan.operation)) {
    plan.strips = so_many(longest_tile(plan), plan.strip);
    plan.pieces = std::max(plan.pieces, plan.strips);
  }
}

void make_plan(BoardPlan& plan, const Algorithm& algorithm, const Shape& shape, Rank position,
               const BoardRoom& room, const topology::Placement* placement, const TileSizes& sizes) {
  plan.operation = shape.operation;
  plan.ranks = shape.ranks;
  plan.me = position;
  plan.root = has_root(shape.operation) ? shape.root : 0;
  plan.bytes = shape.bytes;
  plan.count = shape.bytes / shape.element;
  plan.payload = payload_of(shape);
  plan.push_up = plan.push_down = false;
  plan.movements = 0;
  plan.parent = kNoRank;
  plan.children.clear();
  plan.source = kNoRank;
  plan.readers.clear();
  plan.method = algorithm.board;
  plan.element = shape.element;
  plan.pieces = plan.through = 1;
  plan.twice = plan.meets = false;
  plan.domains = {};
  if (plan.method == BoardMethod::domain_lines && may_go_by_domains(placement, shape))
    plan.domains = domains_of(*placement, position);
  plan.in_rounds = {};
  if (is_large(plan.method)) {
    plan.piece = piece_through(shape, room);
    // Two members combine all that there is. Of more, each combines a part.
    plan.twice = shape.operation == Operation::all_reduce && shape.ranks > 2;
    // With more members, a broadcast in pieces gives the root less to do, and they copy at the same time.
    plan.meets =
        goes_down_a_tree(plan.method) || (plan.method == BoardMethod::mapped &&
                                          (shape.operation == Operation::scatter ||
                                           (shape.operation == Operation::broadcast && shape.ranks == 2)));
    plan.unit = unit_of(shape.element);
    plan_tiles(plan, shape, sizes);
    const bool by_domains =
        plan.method == BoardMethod::domain_tiles || plan.method == BoardMethod::domain_blocks;
    if (by_domains && may_go_by_domains(placement, shape)) {
      plan.domains = domains_of(*placement, position);
      const std::uint32_t in_slot = plan.operation == Operation::reduce_scatter ? plan.domains.most_blocks()
                                                                                : plan.domains.most_tiles();
      plan.strip = whole_within(room.payload() / in_slot, plan.unit, shape.element);
      if (plan.strip == 0 && partials_need_slots(plan.operation))
        plan.domains = {};  // the slots are too small
    }
    // As long as a tile: each strip goes on while the next one is combined.
    if (goes_up_a_tree(plan.method, shape.operation))
      plan.strip = whole_within(std::min(room.payload(), std::max<std::uint64_t>(sizes.most, shape.element)),
                                plan.unit, shape.element);
    count_pieces(plan);
  }
  Planner(plan, algorithm, shape, placement).run();
}

}  // namespace aqueduct::coll
