#include "coll/shared/board_plan.hpp"

#include <bit>

namespace aqueduct::coll {

namespace {

/// Chosen: with more members, each one's look at all the others costs more than a second movement.
constexpr Rank kMostThatExchange = 4;

class Planner {
 public:
  Planner(BoardPlan& plan, const Algorithm& algorithm, const Shape& shape)
      : plan_(plan), method_(algorithm.board), shape_(shape) {}

  void run() {
    switch (method_) {
      case BoardMethod::last: return single(Move::last);
      case BoardMethod::dissemination: return rounds_only();
      case BoardMethod::tree: return tree();
      default: return flat();
    }
  }

 private:
  bool in_all() const noexcept { return shape_.in == Sync::all; }
  bool out_all() const noexcept { return shape_.out == Sync::all; }

  void add(Move move, bool data, std::uint8_t heard, std::uint32_t level = 0) noexcept {
    plan_.movement[plan_.movements++] = {move, data && plan_.payload != 0, static_cast<std::uint8_t>(level),
                                         heard};
  }
  /// Ends when all have begun it.
  void everybody(bool data = false) noexcept {
    if (method_ == BoardMethod::last) return add(Move::last, data, 0);
    if (method_ == BoardMethod::dissemination) return rounds(data);
    if (method_ == BoardMethod::tree) {
      add(Move::tree_up, data, Movement::kNothing);
      return add(Move::tree_down, data, 1);
    }
    if (data || plan_.ranks <= kMostThatExchange) return add(Move::exchange, data, 0);
    add(Move::up, false, Movement::kNothing);
    add(Move::down, false, 1);
  }
  void rounds(bool data) noexcept {
    const auto all = static_cast<std::uint32_t>(std::bit_width(plan_.ranks - 1));
    for (std::uint32_t i = 0; i < all; ++i)
      add(Move::round, data, i + 1 == all ? static_cast<std::uint8_t>(i) : Movement::kNothing, i);
  }
  /// Operations of which everybody's part depends on everybody, or may.
  void single(Move) noexcept {
    if (in_all()) everybody();
    everybody(true);
    if (out_all()) everybody();
  }
  void rounds_only() noexcept { single(Move::round); }

  void rooted_down(Move up, Move down) noexcept {
    if (in_all()) add(up, false, Movement::kNothing);
    add(down, true, in_all() ? 1 : Movement::kNothing);
    if (!out_all()) return;
    add(up, false, Movement::kNothing);
    // With two members, the root has nothing left to do that the other could disturb.
    if (plan_.ranks > 2) add(down, false, 1);
  }
  void rooted_up(Move up, Move down) noexcept {
    if (in_all()) everybody();
    add(up, true, Movement::kNothing);
    if (out_all()) add(down, false, 1);
  }
  void flat() noexcept {
    switch (shape_.operation) {
      case Operation::broadcast:
      case Operation::scatter: return rooted_down(Move::up, Move::down);
      case Operation::gather:
      case Operation::reduce: return rooted_up(Move::up, Move::down);
      case Operation::scan:
      case Operation::exscan:
        if (in_all()) everybody();
        // Of those behind it, a member hears nothing.
        add(Move::exchange, true, Movement::kNothing);
        if (out_all()) everybody();
        return;
      default: return single(Move::exchange);
    }
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
  /// The k-nomial tree: a member's subtree is the members from it on, as many as its lowest digit that is not 0 stands
  /// for. So the subtrees of its children follow each other in the order of the members, from the root on.
  void plan_tree(std::uint32_t radix) {
    const std::uint64_t ranks = plan_.ranks;
    const std::uint64_t relative = (plan_.me + ranks - plan_.root) % ranks;
    const auto member = [&](std::uint64_t at) { return static_cast<Rank>((at + plan_.root) % ranks); };
    for (std::uint64_t unit = 1; unit < ranks; unit *= radix) {
      const std::uint64_t digit = relative / unit % radix;
      if (digit != 0) {
        plan_.parent = member(relative - digit * unit);
        return;
      }
      for (std::uint64_t i = 1; i < radix && relative + i * unit < ranks; ++i)
        plan_.children.push_back(member(relative + i * unit));
    }
  }

  BoardPlan& plan_;
  BoardMethod method_;
  const Shape& shape_;
};

}  // namespace

void make_plan(BoardPlan& plan, const Algorithm& algorithm, const Shape& shape, Rank position) {
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
  Planner(plan, algorithm, shape).run();
}

}  // namespace aqueduct::coll
