#pragma once

#include <aqueduct/coll.hpp>

#include "core/endpoint_state.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace aqueduct::conformance {

inline constexpr std::array kCollectives = {
    Collective::broadcast,  Collective::scatter, Collective::gather,     Collective::all_gather,
    Collective::all_to_all, Collective::reduce,  Collective::all_reduce, Collective::reduce_scatter,
    Collective::scan,       Collective::exscan,
};
inline constexpr std::array kSyncs = {Sync::none, Sync::mine, Sync::all};

/// Where the buffers of a call are: memory of my own, at an odd element of it, on the segment; places that all members
/// know, by one offset or by a list; or of odd members on the segment, of the others memory of their own.
enum class CollPlace { heap, odd, segment, on_all, on_each, some };
inline constexpr std::array kCollPlaces = {CollPlace::heap,   CollPlace::odd,     CollPlace::segment,
                                           CollPlace::on_all, CollPlace::on_each, CollPlace::some};
enum class CollForm { blocking, nb, plan };
inline constexpr std::array kCollForms = {CollForm::blocking, CollForm::nb, CollForm::plan};

/// One collective call: the same on all members.
struct CollectiveCall {
  Collective operation = Collective::broadcast;
  std::uint64_t count = 1;  ///< elements of a block
  Rank root = 0;
  Reducer reducer = ReduceOp::sum;
  CollOptions options = {};
  bool in_place = false;  ///< requires has_place
  CollPlace place = CollPlace::heap;
  CollForm form = CollForm::blocking;
};

/// "all_reduce of 5 elements, in place, …": for messages.
std::string text_of(const CollectiveCall& call);

constexpr bool has_root(Collective operation) noexcept {
  return operation == Collective::broadcast || operation == Collective::scatter ||
         operation == Collective::gather || operation == Collective::reduce;
}
constexpr bool is_reduction(Collective operation) noexcept {
  return operation >= Collective::reduce && operation <= Collective::exscan;
}
/// Whether the operation has a form with one buffer.
constexpr bool has_place(Collective operation) noexcept {
  return operation == Collective::broadcast || operation == Collective::all_gather ||
         operation == Collective::all_reduce || operation == Collective::scan ||
         operation == Collective::exscan;
}
/// The number of blocks of the largest input and output of a member.
constexpr std::uint64_t blocks_in(Collective operation, Rank members) noexcept {
  return operation == Collective::scatter || operation == Collective::all_to_all ||
                 operation == Collective::reduce_scatter
             ? members
             : 1;
}
constexpr std::uint64_t blocks_out(Collective operation, Rank members) noexcept {
  return operation == Collective::gather || operation == Collective::all_gather ||
                 operation == Collective::all_to_all
             ? members
             : 1;
}
/// Whether a member's input is read, and its output written.
constexpr bool reads(const CollectiveCall& call, Rank member) noexcept {
  return member == call.root ||
         (call.operation != Collective::broadcast && call.operation != Collective::scatter);
}
constexpr bool writes(const CollectiveCall& call, Rank member) noexcept {
  if (call.operation == Collective::exscan) return member != 0;
  if (call.operation == Collective::broadcast && call.in_place) return member != call.root;
  return member == call.root ||
         (call.operation != Collective::gather && call.operation != Collective::reduce);
}

/// Element `i` of a member's input in call `number`. Floating-point values are small integers, so that their sums are exact.
template <class T>
T coll_value(std::uint64_t number, Rank member, std::uint64_t i) noexcept {
  const std::uint64_t bits = (mix((number << 16) + member) + i) * 0x9e3779b97f4a7c15u;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(bits >> 44) - (std::int64_t{1} << 19));
  } else {
    return static_cast<T>(bits >> 32);
  }
}

/// left ∘ right, of the library's operators that the kit uses.
template <class T>
T coll_combined(ReduceOp op, T left, T right) noexcept {
  if (op == ReduceOp::min) return left < right ? left : right;
  if (op == ReduceOp::max) return left < right ? right : left;
  if constexpr (std::is_integral_v<T>) {
    const auto a = static_cast<std::uint64_t>(left);
    const auto b = static_cast<std::uint64_t>(right);
    if (op == ReduceOp::sum) return static_cast<T>(a + b);
    if (op == ReduceOp::product) return static_cast<T>(a * b);
    if (op == ReduceOp::bit_and) return static_cast<T>(a & b);
    if (op == ReduceOp::bit_or) return static_cast<T>(a | b);
    if (op == ReduceOp::bit_xor) return static_cast<T>(a ^ b);
  }
  return left + right;
}

/// The naive model: what a member's output holds at the end. `input(member, i)` is element i of a member's input,
/// `combine(left, right)` the operator. Returns `before` where nothing is written.
template <class T, class Input, class Combine>
std::vector<T> coll_result(const CollectiveCall& call, Rank members, Rank member, const Input& input,
                           const Combine& combine, std::span<const T> before) {
  std::vector<T> out(before.begin(), before.end());
  if (!writes(call, member)) return out;
  const std::uint64_t n = call.count;
  const auto fold = [&](Rank end, std::uint64_t first) {
    for (std::uint64_t i = 0; i < n; ++i) out[i] = input(Rank{0}, first + i);
    for (Rank from = 1; from < end; ++from) {
      for (std::uint64_t i = 0; i < n; ++i) out[i] = combine(out[i], input(from, first + i));
    }
  };
  switch (call.operation) {
    case Collective::broadcast:
      for (std::uint64_t i = 0; i < n; ++i) out[i] = input(call.root, i);
      break;
    case Collective::scatter:
      for (std::uint64_t i = 0; i < n; ++i) out[i] = input(call.root, member * n + i);
      break;
    case Collective::gather:
    case Collective::all_gather:
    case Collective::all_to_all: {
      const std::uint64_t first = call.operation == Collective::all_to_all ? member * n : 0;
      for (Rank from = 0; from < members; ++from) {
        for (std::uint64_t i = 0; i < n; ++i) out[from * n + i] = input(from, first + i);
      }
      break;
    }
    case Collective::reduce:
    case Collective::all_reduce: fold(members, 0); break;
    case Collective::reduce_scatter: fold(members, member * n); break;
    case Collective::scan: fold(member + 1, 0); break;
    case Collective::exscan: fold(member, 0); break;
    default: break;  // those of collective_v.hpp
  }
  return out;
}

// The three forms of each operation under one name, so that `coll_call` need not exist three times.

struct BlockingCalls {
  static auto broadcast(auto&... with) { return aqueduct::broadcast(with...); }
  static auto scatter(auto&... with) { return aqueduct::scatter(with...); }
  static auto gather(auto&... with) { return aqueduct::gather(with...); }
  static auto all_gather(auto&... with) { return aqueduct::all_gather(with...); }
  static auto all_to_all(auto&... with) { return aqueduct::all_to_all(with...); }
  static auto reduce(auto&... with) { return aqueduct::reduce(with...); }
  static auto all_reduce(auto&... with) { return aqueduct::all_reduce(with...); }
  static auto reduce_scatter(auto&... with) { return aqueduct::reduce_scatter(with...); }
  static auto scan(auto&... with) { return aqueduct::scan(with...); }
  static auto exscan(auto&... with) { return aqueduct::exscan(with...); }
  static Status none() { return ErrorCode::not_supported; }
};
struct CallsInFlight {
  static auto broadcast(auto&... with) { return aqueduct::broadcast_nb(with...); }
  static auto scatter(auto&... with) { return aqueduct::scatter_nb(with...); }
  static auto gather(auto&... with) { return aqueduct::gather_nb(with...); }
  static auto all_gather(auto&... with) { return aqueduct::all_gather_nb(with...); }
  static auto all_to_all(auto&... with) { return aqueduct::all_to_all_nb(with...); }
  static auto reduce(auto&... with) { return aqueduct::reduce_nb(with...); }
  static auto all_reduce(auto&... with) { return aqueduct::all_reduce_nb(with...); }
  static auto reduce_scatter(auto&... with) { return aqueduct::reduce_scatter_nb(with...); }
  static auto scan(auto&... with) { return aqueduct::scan_nb(with...); }
  static auto exscan(auto&... with) { return aqueduct::exscan_nb(with...); }
  static Event none() { return Event(Status(ErrorCode::not_supported)); }
};
struct Plans {
  static auto broadcast(auto&... with) { return aqueduct::broadcast_plan(with...); }
  static auto scatter(auto&... with) { return aqueduct::scatter_plan(with...); }
  static auto gather(auto&... with) { return aqueduct::gather_plan(with...); }
  static auto all_gather(auto&... with) { return aqueduct::all_gather_plan(with...); }
  static auto all_to_all(auto&... with) { return aqueduct::all_to_all_plan(with...); }
  static auto reduce(auto&... with) { return aqueduct::reduce_plan(with...); }
  static auto all_reduce(auto&... with) { return aqueduct::all_reduce_plan(with...); }
  static auto reduce_scatter(auto&... with) { return aqueduct::reduce_scatter_plan(with...); }
  static auto scan(auto&... with) { return aqueduct::scan_plan(with...); }
  static auto exscan(auto&... with) { return aqueduct::exscan_plan(with...); }
  static Result<CollPlan> none() { return ErrorCode::not_supported; }
};

/// Makes the call in one of these forms. In place, `out` is the one buffer.
template <class Form, class In, class Out>
auto coll_call(Team& team, const CollectiveCall& c, In& in, Out& out) {
  switch (c.operation) {
    case Collective::broadcast:
      return c.in_place ? Form::broadcast(team, out, c.root, c.options)
                        : Form::broadcast(team, in, out, c.root, c.options);
    case Collective::scatter: return Form::scatter(team, in, out, c.root, c.options);
    case Collective::gather: return Form::gather(team, in, out, c.root, c.options);
    case Collective::all_gather:
      return c.in_place ? Form::all_gather(team, out, c.options) : Form::all_gather(team, in, out, c.options);
    case Collective::all_to_all: return Form::all_to_all(team, in, out, c.options);
    case Collective::reduce: return Form::reduce(team, in, out, c.reducer, c.root, c.options);
    case Collective::all_reduce:
      return c.in_place ? Form::all_reduce(team, out, c.reducer, c.options)
                        : Form::all_reduce(team, in, out, c.reducer, c.options);
    case Collective::reduce_scatter: return Form::reduce_scatter(team, in, out, c.reducer, c.options);
    case Collective::scan:
      return c.in_place ? Form::scan(team, out, c.reducer, c.options)
                        : Form::scan(team, in, out, c.reducer, c.options);
    case Collective::exscan:
      return c.in_place ? Form::exscan(team, out, c.reducer, c.options)
                        : Form::exscan(team, in, out, c.reducer, c.options);
    default: break;
  }
  return Form::none();
}

/// After a call with Sync::none at its end, a member's buffers are final once the team has ended another operation with
/// Sync::all (CollOptions::limit).
inline Status settle(Team& team) {
  std::array<std::uint8_t, 1> word{};
  return all_reduce(team, word, ReduceOp::max);
}

/// Whether members find out that they make different calls, each of which is right by itself. A network that raises
/// counters by itself may carry too few bits to mark them, and then only checked builds pay a message for that
/// (docs/decisions/0069-marks-in-counters.md). The same on all ranks.
inline bool finds_different_calls([[maybe_unused]] Endpoint& me) {
#ifndef AQUEDUCT_CHECKED
  constexpr std::uint64_t kMark = std::uint64_t{1} << 48;  // TeamEngine::unit_of
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    if (rank != me.rank() && me.state().conduit(rank).properties().max_signal_add < kMark) return false;
  }
#endif
  return true;
}

}  // namespace aqueduct::conformance
