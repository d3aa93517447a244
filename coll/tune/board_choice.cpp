#include "coll/tune/board_choice.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/shared/board_plan.hpp"
#include "kernels/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::coll {

namespace {

// Up to here a copy into a slot is cheaper than to tell where buffers are and to wait until nobody needs them any more. Measured,
// among two members, and where ranks share processors: there each wait costs a switch between them (docs/performance.md, "What
// goes through slots"). Chosen for more members with a processor each: each of them reads what all have published.
constexpr std::uint64_t kMostOfTwo = 16384;
// The same where both publish and wait for each other. Measured on Zen 5, near and far cores: an all-reduce of 8 KiB takes 0.7 and
// 1.35 us in slots, 0.38 and 1.2 by tiles; an all-gather on far cores 1.4 and 1.05 mapped.
constexpr std::uint64_t kMostExchanged = 4096;
constexpr std::uint64_t kMostOfMany = 1024;
constexpr std::uint64_t kMostOfCrowded = kMostBulk;
/// Of what one member combines for all, the sum over the members: the most that was measured, with two
/// processors. Where more processors would wait, all members combine a part.
constexpr std::uint64_t kMostCombined = std::uint64_t{256} << 10;
/// Chosen: pieces of what must go through the board are at least so long.
constexpr std::uint32_t kLeastBulk = 1024;
/// The most pieces of a call that goes in pieces where ranks share processors. Measured: half of the slots.
constexpr std::uint64_t kMostPieces = 4;
/// Chosen: more members than this do not all look at all.
constexpr Rank kMostFlat = 8;

bool is_short(const Shape& shape, const TeamTraits& team) noexcept {
  // Of longer scans a schedule's members run further ahead.
  const bool scans = shape.operation == Operation::scan || shape.operation == Operation::exscan;
  const std::uint64_t many = team.crowded && !scans ? kMostOfCrowded : kMostOfMany;
  const std::uint64_t payload = payload_of(shape);
  if (payload > kMostOfMany && reduces(shape.operation) && payload * shape.ranks > kMostCombined)
    return false;
  // Half of what a member of two publishes in a reduce-scatter is for itself, and a slot is as fast as tiles.
  const bool exchanges = !has_root(shape.operation) && !scans && shape.operation != Operation::reduce_scatter;
  return payload <= (shape.ranks != 2 ? many : exchanges ? kMostExchanged : kMostOfTwo);
}

BoardMethod method_for(const Shape& shape, const TeamTraits& team) noexcept {
  // A member that waits only for those before it runs ahead: ranks that share a processor switch less often, and the second of two
  // publishes nothing that nobody reads.
  const bool one_way = (shape.operation == Operation::scan || shape.operation == Operation::exscan) &&
                       shape.in != Sync::all && shape.out != Sync::all;
  if (one_way && (team.crowded || shape.ranks == 2)) return BoardMethod::chain;
  if (shape.ranks == 2 || has_root(shape.operation)) {
    const bool tree = shape.ranks > kMostFlat && !team.crowded;
    return tree && board_algorithm(shape.operation, BoardMethod::tree) != nullptr ? BoardMethod::tree
                                                                                  : BoardMethod::flat;
  }
  if (team.crowded) return BoardMethod::last;
  if (shape.ranks > kMostFlat && shape.operation == Operation::all_reduce) return BoardMethod::tree;
  return shape.ranks > kMostFlat ? BoardMethod::last : BoardMethod::flat;
}

// Chosen, as there was no such machine to measure on: below this, waiting for each stage would cost what it saves.
constexpr std::uint64_t kLeastByDomains = 16384;
/// A broadcast to two domains is read from the root by all (requirement HR-07).
constexpr std::uint32_t kLeastDomainsOfBroadcast = 3;

/// Of a reduce, the least of a tile that goes through a slot at once. Measured where ranks share processors, which makes each wait
/// dear: with 1 KiB a reduce of 1 MiB takes fourteen times as long as by tiles.
constexpr std::uint64_t kLeastStrip = 8192;

/// Whether members keep to their domains.
bool goes_by_domains(const Shape& shape, const TeamTraits& team) noexcept {
  const MemoryDomains& domains = team.domains;
  if (!depends_on_domains(shape, team) || domains.count < 2) return false;
  // An all-gather is a broadcast of each block.
  if (shape.operation == Operation::broadcast || shape.operation == Operation::all_gather)
    return domains.count >= kLeastDomainsOfBroadcast;
  if (!shape.commutative && !domains.in_team_order) return false;
  // The members of a small domain would combine more than those of a large one.
  const std::uint32_t tiles_of_one = (domains.largest + domains.smallest - 1) / domains.smallest;
  if (tiles_of_one > 2) return false;
  if (shape.operation == Operation::all_reduce) return true;
  // A slot has a strip of a block of each other domain.
  const std::uint64_t blocks = shape.operation == Operation::reduce_scatter ? domains.count - 1 : 1;
  return team.board.payload() / tiles_of_one / blocks >= kLeastStrip;
}

/// Of what is longer.
BoardMethod large_method_for(const Shape& shape, const TeamTraits& team) noexcept {
  // The blocks of a scatter share a slot, so they are too many pieces.
  const bool one_way = has_root(shape.operation) && shape.operation != Operation::scatter &&
                       shape.in != Sync::all && shape.out != Sync::all;
  // Among two, programs of MPI's manner have inputs that nobody maps, and the leaf runs ahead. Measured on Zen 5, far cores: a
  // reduce of 64 KiB takes 2.9 us so, and 4.6 by tiles through the board.
  const bool streams = team.crowded || (shape.ranks == 2 && shape.operation == Operation::reduce);
  if (streams && one_way && shape.bytes <= kMostPieces * piece_through(shape, team.board))
    return BoardMethod::stream;
  const bool by_domains = goes_by_domains(shape, team);
  if (by_domains && shape.operation == Operation::all_gather) return BoardMethod::domain_blocks;
  if (!reduces(shape.operation)) return by_domains ? BoardMethod::domains : BoardMethod::mapped;
  if (by_domains) return BoardMethod::domain_tiles;
  return team.crowded ? BoardMethod::claims : BoardMethod::tiles;
}

}  // namespace

bool depends_on_domains(const Shape& shape, const TeamTraits& team) noexcept {
  if (team.crowded || team.board.slots == 0 || shape.bytes < kLeastByDomains) return false;
  switch (shape.operation) {
    case Operation::broadcast:
    case Operation::all_gather: return true;
    case Operation::reduce:
    case Operation::all_reduce:
    case Operation::reduce_scatter: return shape.order != Order::exact;
    default: return false;
  }
}

Fit fit_board(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
              const TeamTraits& team) noexcept {
  Fit out;
  out.shape = shape;
  out.shape.parameters = {};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    out.shape.parameters[i] = wanted[i] != 0 ? wanted[i] : algorithm.parameters[i].usual;
  out.piece = std::max<std::uint64_t>(shape.bytes, shape.element);
  out.refusal = Schedule::refusal(algorithm, out.shape);
  if (out.refusal != nullptr) return out;
  if (team.board.slots == 0) {
    out.refusal =
        "the team has no board: its members do not share memory, or it was made when little was left";
  } else if (is_large(algorithm.board)) {
    if (piece_through(shape, team.board) == 0)
      out.refusal = "the team's board is too small for what cannot be read where it is";
    if (reduces(shape.operation) && shape.element > kernels::Fold::kBlock)
      out.refusal = "elements of more than 4096 bytes are not combined in one pass over all members' buffers";
  } else if (most_published(algorithm.board, shape) > team.board.payload()) {
    out.refusal = "what a member publishes is longer than its slot of the team's board";
  }
  return out;
}

Choice choose_board(const Shape& shape, const TeamTraits& team) noexcept {
  Choice none;
  if (team.board.slots == 0) return none;
  const bool large = team.board.bulk >= kLeastBulk;
  const auto take = [&](BoardMethod method) {
    const Algorithm* const algorithm = board_algorithm(shape.operation, method);
    if (algorithm == nullptr) return none;
    const Fit how = fit_board(*algorithm, {}, shape, team);
    if (how.refusal != nullptr) return none;
    return Choice{.algorithm = algorithm, .shape = how.shape, .piece = how.piece, .why = {}};
  };
  if (is_short(shape, team)) {
    for (const BoardMethod method : {method_for(shape, team), BoardMethod::flat}) {
      if (const Choice found = take(method); found.algorithm != nullptr) return found;
    }
  }
  return large ? take(large_method_for(shape, team)) : none;
}

std::string board_lines(const Choice& choice) {
  const Cost cost = Schedule::cost(*choice.algorithm, choice.shape);
  if (choice.algorithm->board == BoardMethod::stream) {
    return fmt::format(
        "  bytes go through the team's board in pieces\n  moves {} bytes, {} signals, {} deep, beside those "
        "of Sync::all\n",
        cost.bytes, cost.messages, cost.depth);
  }
  if (is_large(choice.algorithm->board)) {
    return fmt::format(
        "  members access each other's buffers where these lie in segments; else the system copies bytes, or "
        "they go through the board\n  moves {} bytes, {} signals, {} deep, beside those of Sync::all\n",
        cost.bytes, cost.messages, cost.depth);
  }
  const std::uint64_t payload = most_published(choice.algorithm->board, choice.shape);
  return fmt::format(
      "  on the team's board; a member publishes {}{} bytes, {}\n  moves at most {} lines, {} deep, beside "
      "those of Sync::all\n",
      choice.algorithm->board == BoardMethod::domain_lines ? "up to " : "", payload,
      payload <= kInlinePayload ? "beside its number" : "in memory of their own", cost.bytes / 64,
      cost.depth);
}

std::string why_not_boards(const Choice& choice, const Shape& shape, const TeamTraits& team,
                           std::string_view otherwise) {
  std::string text;
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation != shape.operation || &algorithm == choice.algorithm) continue;
    const Fit how = fit_board(algorithm, {}, shape, team);
    text += fmt::format("  not {}: {}\n", algorithm.name, how.refusal != nullptr ? how.refusal : otherwise);
  }
  return text;
}

}  // namespace aqueduct::coll
