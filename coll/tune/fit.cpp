#include "coll/tune/fit.hpp"

#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/native_choice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace aqueduct::coll {

namespace {

/// The bytes that travel in the time that a message costs whatever its length. From the round numbers of rules.cpp: 2.5 µs
/// of 0.1 ns each. Over udp on loopback it is some 40,000.
constexpr double kBytesOfMessage = 25'000;

/// The number of segments that takes the least time, of a schedule of this shape whose longest chain has `a` messages more
/// than there are segments: (a + s)(latency + gap · bytes / s) is least at s = sqrt(a · bytes · gap / latency). Where members
/// have a part each, its segments let a member combine one while the next travels: a = 1. A square root is the same on all
/// processors (IEEE 754).
std::uint64_t best_segments(const Algorithm& algorithm, Shape shape, std::size_t parameter) noexcept {
  shape.parameters[parameter] = algorithm.parameters[parameter].least;
  const std::uint32_t depth = algorithm.cuts ? 2 : algorithm.cost(shape).depth;
  const std::uint64_t bytes = algorithm.cuts ? shape.bytes / shape.ranks : shape.bytes;
  if (depth < 2) return 1;
  return static_cast<std::uint64_t>(std::sqrt((depth - 1) * static_cast<double>(bytes) / kBytesOfMessage));
}

/// Gives a piece its parameters, and the members by hosts, or the team's tree, to an algorithm that goes by them. Wanted values are taken as they are: Schedule::refusal checks them.
Shape with_parameters(const Algorithm& algorithm, const WantedParameters& wanted, Shape shape,
                      const TeamTraits& team) noexcept {
  shape.parameters = {};
  shape.groups.of = algorithm.hosts ? team.groups : nullptr;
  shape.team_tree.of = algorithm.team_tree ? team.tree : nullptr;
  shape.added.of = algorithm.added;
  if (algorithm.behind_barrier && asks_for_flags(shape)) shape.in = Sync::all;
  const bool misses_members =
      (algorithm.hosts && team.groups == nullptr) || (algorithm.team_tree && team.tree == nullptr);
  shape.few_signals = team.few_signals();
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    shape.parameters[i] = wanted[i] != 0 ? wanted[i] : algorithm.parameters[i].usual;
  }
  // When all others have their values: an algorithm of the program may name its segments first.
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
    const Parameter& parameter = algorithm.parameters[i];
    std::uint32_t& value = shape.parameters[i];
    if (wanted[i] != 0 || parameter.name != "segments" || misses_members) continue;
    value = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(best_segments(algorithm, shape, i), parameter.least, parameter.most));
    // A team of many members may have counters for fewer.
    while (value > parameter.least && Schedule::refusal(algorithm, shape) != nullptr)
      value = std::max(value / 2, parameter.least);
  }
  return shape;
}

/// How many blocks a message may carry.
std::uint64_t blocks_of_message(const Algorithm& algorithm, const Shape& shape) noexcept {
  if (algorithm.direct) return 1;
  switch (shape.operation) {
    case Operation::scatter:
    case Operation::gather:
    case Operation::all_gather:
    case Operation::all_to_all:
    case Operation::reduce_scatter: return shape.ranks;
    default: return 1;
  }
}

/// Looks for pieces of one algorithm.
class Cutter {
 public:
  Cutter(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& whole,
         const TeamTraits& team, const ScratchLayout& scratch) noexcept
      : algorithm_(algorithm), wanted_(wanted), whole_(whole), team_(team), scratch_(scratch) {}

  /// Null if `times` pieces of this many bytes fit into a bank.
  const char* refusal(std::uint64_t piece, std::uint32_t times) const noexcept {
    if (team_.ranks > 1 && piece > team_.most_transfer / blocks_of_message(algorithm_, whole_))
      return "a message of it would be longer than the conduit's longest";
    const Shape shape = with_parameters(algorithm_, wanted_, piece_of(whole_, piece), team_);
    if (const char* const reason = refusal_of(shape, times)) return reason;
    // The last piece has the parameters of the others. Rounding can give it more segments than they have.
    const std::uint64_t rest = piece == 0 ? 0 : whole_.bytes % piece;
    return rest == 0 || rest == piece ? nullptr : refusal_of(piece_of(shape, rest), times);
  }

  /// The largest piece of which `times` fit, to a quarter of a power of two; 0 if none does.
  std::uint64_t largest(std::uint32_t times) const noexcept {
    std::uint64_t before = 0;
    for (std::uint64_t limit = std::bit_floor(whole_.bytes); limit > 0; limit /= 2) {
      const std::uint64_t piece = std::max<std::uint64_t>(limit / whole_.element, 1) * whole_.element;
      if (piece != before && refusal(piece, times) == nullptr)
        return evened(grown(piece, limit, times), times);
      if (limit <= whole_.element) break;
      before = piece;
    }
    return 0;
  }

  Fit fit(std::uint64_t piece) const noexcept {
    Fit out;
    out.shape = with_parameters(algorithm_, wanted_, piece_of(whole_, piece), team_);
    out.shape.bytes = whole_.bytes;
    out.shape.pitch = whole_.pitch;
    out.piece = piece;
    return out;
  }

 private:
  /// A piece that fits, made longer by quarters if that fits too.
  std::uint64_t grown(std::uint64_t piece, std::uint64_t limit, std::uint32_t times) const noexcept {
    for (const std::uint64_t quarters : {7u, 6u, 5u}) {
      const std::uint64_t longer = limit / 4 * quarters / whole_.element * whole_.element;
      if (longer > piece && longer < whole_.bytes && refusal(longer, times) == nullptr) return longer;
    }
    return piece;
  }
  /// As many pieces of nearly equal length, in whole lines of memory if elements allow.
  std::uint64_t evened(std::uint64_t piece, std::uint32_t times) const noexcept {
    const std::uint64_t count = (whole_.bytes + piece - 1) / piece;
    const std::uint64_t unit = 64 % whole_.element == 0 ? 64 : whole_.element;
    const std::uint64_t even = ((whole_.bytes + count - 1) / count + unit - 1) / unit * unit;
    return even < piece && refusal(even, times) == nullptr ? even : piece;
  }
  const char* refusal_of(const Shape& shape, std::uint32_t times) const noexcept {
    if (const char* const reason = Schedule::refusal(algorithm_, shape)) return reason;
    Needs needs = portion_of(algorithm_, shape);
    needs.scratch = whole_lines(needs.scratch) * times;
    needs.counters *= times;
    return scratch_.refusal(needs);
  }

  const Algorithm& algorithm_;
  const WantedParameters& wanted_;
  const Shape& whole_;
  const TeamTraits& team_;
  const ScratchLayout& scratch_;
};

}  // namespace

Shape piece_of(const Shape& shape, std::uint64_t bytes) noexcept {
  Shape piece = shape;
  piece.bytes = bytes;
  return piece;
}

Needs portion_of(const Algorithm& algorithm, const Shape& shape) noexcept {
  Needs needs = Schedule::needs(algorithm, shape);
  if (needs.temp > 0) needs.scratch = whole_lines(needs.scratch) + needs.temp;
  return needs;
}

Fit fit(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
        const TeamTraits& team, const ScratchLayout& scratch) noexcept {
  if (algorithm.native) return fit_native(algorithm, shape, team, scratch);
  if (algorithm.board != BoardMethod::none) return fit_board(algorithm, wanted, shape, team);
  const Cutter cutter(algorithm, wanted, shape, team, scratch);
  const char* const reason = cutter.refusal(shape.bytes, 1);
  if (reason == nullptr) {
    Fit whole = cutter.fit(shape.bytes);
    whole.piece = std::max<std::uint64_t>(shape.bytes, shape.element);
    return whole;
  }
  // Two pieces in a bank overlap, which pays unless it makes them much shorter: in a small bank one piece of 48 bytes may fit
  // where two fit only of 12 bytes each.
  const std::uint64_t alone = cutter.largest(1);
  const std::uint64_t piece = cutter.largest(2);
  if (const std::uint64_t better = 3 * piece >= alone ? piece : alone; better != 0) return cutter.fit(better);
  Fit none;
  none.refusal = reason;
  none.shape = shape;
  if (shape.bytes > shape.element && Schedule::refusal(algorithm, cutter.fit(shape.element).shape) == nullptr)
    none.refusal = "one element at a time, it still needs more than a bank of scratch or a message can hold";
  return none;
}

}  // namespace aqueduct::coll
