#include "coll/tune/native_choice.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kKibibyte = 1024;

constexpr std::uint64_t product_or_most(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > kForEver / b ? kForEver : a * b;
}
constexpr std::uint64_t sum_or_most(std::uint64_t a, std::uint64_t b) noexcept {
  return a > kForEver - b ? kForEver : a + b;
}

/// A chain of messages, and beside it what one member sends on average.
std::uint64_t time_of(const Cost& cost, Rank ranks, const core::NativeTeam::Pace& pace) noexcept {
  const std::uint64_t chain = product_or_most(cost.depth, pace.latency);
  const std::uint64_t sends = product_or_most(cost.messages / ranks, pace.occupancy);
  const std::uint64_t bytes = product_or_most(cost.bytes / ranks / kKibibyte, pace.kibibyte);
  return sum_or_most(chain, sum_or_most(sends, bytes));
}

}  // namespace

core::NativeShape native_shape_of(const Shape& shape) noexcept {
  core::NativeShape asked;
  asked.operation = shape.operation;
  asked.root = shape.root;
  asked.element = shape.element;
  asked.bytes = shape.bytes;
  asked.in = shape.in;
  asked.out = shape.out;
  asked.op = shape.op;
  asked.type = shape.type;
  asked.order = shape.order;
  asked.commutative = shape.commutative;
  return asked;
}

Fit fit_native(const Algorithm& algorithm, const Shape& shape, const TeamTraits& team,
               const ScratchLayout& scratch) noexcept {
  Fit out;
  out.shape = shape;
  out.shape.parameters = {};
  out.shape.few_signals = team.few_signals();
  out.piece = std::max<std::uint64_t>(shape.bytes, shape.element);
  out.refusal = Schedule::refusal(algorithm, shape);
  if (out.refusal == nullptr && team.native == nullptr) out.refusal = "the team's conduit does not offer it";
  if (out.refusal == nullptr && shape.bytes != 0) out.refusal = team.native->refusal(native_shape_of(shape));
  if (out.refusal == nullptr) out.refusal = scratch.refusal(portion_of(algorithm, out.shape));
  return out;
}

std::uint64_t number_of_pieces(const Choice& choice) noexcept {
  if (choice.shape.bytes <= choice.piece) return 1;
  return (choice.shape.bytes + choice.piece - 1) / choice.piece;
}

Cost cost_of(const Choice& choice) noexcept {
  const std::uint64_t pieces = number_of_pieces(choice);
  if (pieces == 1) return Schedule::cost(*choice.algorithm, choice.shape);
  Cost cost = Schedule::cost(*choice.algorithm, piece_of(choice.shape, choice.piece));
  const Cost last = Schedule::cost(*choice.algorithm,
                                   piece_of(choice.shape, choice.shape.bytes - (pieces - 1) * choice.piece));
  cost.messages = cost.messages * (pieces - 1) + last.messages;
  cost.bytes = cost.bytes * (pieces - 1) + last.bytes;
  return cost;
}

std::uint64_t expected_time(const Choice& choice, const TeamTraits& team) noexcept {
  const std::uint64_t messages = time_of(cost_of(choice), choice.shape.ranks, team.native->pace());
  if (!choice.algorithm->native || choice.shape.bytes == 0) return messages;
  return sum_or_most(messages, team.native->cost(native_shape_of(choice.shape)));
}

Choice better_of_table_and_native(const Choice& table, const Shape& shape, const TeamTraits& team,
                                  const ScratchLayout& scratch) noexcept {
  // Without bytes, only the library's messages show that members have made different calls.
  const Algorithm* const native = native_algorithm(shape.operation);
  if (team.native == nullptr || native == nullptr || shape.bytes == 0) return table;
  const Fit how = fit_native(*native, shape, team, scratch);
  if (how.refusal != nullptr) return table;
  const Choice conduits{.algorithm = native, .shape = how.shape, .piece = how.piece, .why = {}};
  if (table.algorithm == nullptr) return conduits;
  return expected_time(conduits, team) < expected_time(table, team) ? conduits : table;
}

std::string native_lines(const Choice& choice, const TeamTraits& team) {
  const Cost around = cost_of(choice);
  return fmt::format("  by the conduit, in one piece, in about {} ns; around it {} messages, {} deep\n",
                     expected_time(choice, team), around.messages, around.depth);
}

std::string why_not_native(const Choice& choice, const Shape& shape, const TeamTraits& team,
                           const ScratchLayout& scratch, bool forced) {
  const Algorithm* const native = native_algorithm(shape.operation);
  if (native == nullptr || native == choice.algorithm) return {};
  const Fit how = fit_native(*native, shape, team, scratch);
  std::string reason;
  if (how.refusal != nullptr) {
    reason = how.refusal;
  } else if (forced) {
    reason = "it could, but a setting asks for another";
  } else if (shape.bytes == 0 || team.native == nullptr || choice.algorithm == nullptr) {
    reason = "there is nothing to move";
  } else {
    const Choice conduits{.algorithm = native, .shape = how.shape, .piece = how.piece, .why = {}};
    reason = fmt::format("it could, but in about {} ns, and {} in about {} ns", expected_time(conduits, team),
                         choice.algorithm->name, expected_time(choice, team));
  }
  return fmt::format("  not {}: {}\n", native->name, reason);
}

}  // namespace aqueduct::coll
