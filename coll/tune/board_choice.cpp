#include "coll/tune/board_choice.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/shared/board_plan.hpp"
#include "coll/tune/memory_choice.hpp"
#include "kernels/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

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
constexpr std::uint64_t kMostOfCrowded = 32768;
/// Of what one member combines for all, the sum over the members: the most that was measured, with two
/// processors. Where more processors would wait, all members combine a part.
constexpr std::uint64_t kMostCombined = std::uint64_t{256} << 10;
/// Chosen: pieces of what must go through the board are at least so long.
constexpr std::uint32_t kLeastBulk = 1024;
/// The most that goes in pieces where ranks share processors, if buffers might lie in segments. Measured: 128 KiB.
constexpr std::uint64_t kMostStreamed = 131072;
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
  // Of two each reads one line, and combines at once what it has and what it reads: 0.75 of the time of `flags-flat`, measured on
  // Zen 5, near and far cores, 8 B to 4 KiB.
  if (shape.ranks == 2 && shape.operation == Operation::all_reduce && !team.crowded)
    return BoardMethod::dissemination;
  if (shape.ranks == 2 || has_root(shape.operation)) {
    const bool tree = shape.ranks > kMostFlat && !team.crowded;
    return tree && board_algorithm(shape.operation, BoardMethod::tree) != nullptr ? BoardMethod::tree
                                                                                  : BoardMethod::flat;
  }
  if (team.crowded) return BoardMethod::last;
  if (shape.ranks > kMostFlat && shape.operation == Operation::all_reduce) return BoardMethod::tree;
  return shape.ranks > kMostFlat ? BoardMethod::last : BoardMethod::flat;
}

/// Of a reduce, the least of a tile that goes through a slot at once. Measured where ranks share processors, which makes each wait
/// dear: with 1 KiB a reduce of 1 MiB takes fourteen times as long as by tiles.
constexpr std::uint64_t kLeastStrip = 8192;

/// Chosen, as there was no such machine to measure on: below this, waiting for each stage of tiles by domains would cost what it saves,
/// where no tree can do the block.
constexpr std::uint64_t kLeastByDomains = 16384;

/// Whether the tiles of a reduction by domains are fair to the members, and fit into slots.
bool may_go_by_domain_tiles(const Shape& shape, const TeamTraits& team) noexcept {
  const MemoryDomains& domains = team.domains;
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
  const std::uint64_t published = payload_of(shape);
  if (streams && one_way && published <= std::min(kMostStreamed, 4 * std::uint64_t{team.board.bulk}))
    return BoardMethod::stream;
  if (!reduces(shape.operation)) return BoardMethod::mapped;
  return team.crowded ? BoardMethod::claims : BoardMethod::tiles;
}

}  // namespace

bool depends_on_domains(const Shape& shape, const TeamTraits& team) noexcept {
  if (team.crowded || team.board.slots == 0 || shape.ranks < 3) return false;
  // A processor reads a few lines at the same time, and the forms add up what each of them takes. To find the domains takes time, too.
  const bool brief = is_short(shape, team);
  if (brief && shape.ranks <= kMostFlat) return false;
  switch (shape.operation) {
    case Operation::broadcast:
    case Operation::all_gather: return true;
    case Operation::reduce:
    case Operation::all_reduce: return shape.order != Order::exact;
    case Operation::reduce_scatter: return !brief && shape.order != Order::exact;
    default: return false;
  }
}

BoardGuesses guesses_of(const Shape& shape, const TeamTraits& team) noexcept {
  BoardGuesses out;
  if (team.domains.count < 2 || !depends_on_domains(shape, team)) return out;
  // Partial results of domains are combined in their order.
  if (reduces(shape.operation) && !shape.commutative && !team.domains.in_team_order) return out;
  const MemoryMachine machine = assumed_machine(team.domains);
  const auto add = [&](BoardMethod method, std::optional<std::uint64_t> time, std::uint32_t radix = 0) {
    const Algorithm* const algorithm = board_algorithm(shape.operation, method);
    const WantedParameters wanted{radix};
    if (!time || algorithm == nullptr || fit_board(*algorithm, wanted, shape, team).refusal != nullptr)
      return false;
    out.all[out.count++] = {algorithm, wanted, *time};
    return true;
  };
  if (is_short(shape, team)) {
    for (const BoardMethod method : {BoardMethod::flat, BoardMethod::domain_lines})
      add(method, time_of_short_call(method, shape, machine));
    for (const std::uint32_t radix : {2u, 4u})
      add(BoardMethod::tree, time_of_short_call(BoardMethod::tree, shape, machine, radix), radix);
    // One alone is compared with nothing: then the rules may know a better one.
    return out.count > 1 ? out : BoardGuesses{};
  }
  if (team.board.bulk < kLeastBulk) return out;
  if (!reduces(shape.operation)) {
    for (const BoardMethod method : {BoardMethod::mapped, BoardMethod::domains, BoardMethod::domain_blocks})
      add(method, time_of_bytes(method, shape, machine));
    return out;
  }
  if (!may_go_by_domain_tiles(shape, team)) return out;
  if (shape.operation == Operation::reduce_scatter && shape.bytes < kLeastByDomains) return out;
  for (const BoardMethod method : {BoardMethod::domain_tiles, BoardMethod::tiles})
    add(method, time_of_bytes(method, shape, machine));
  const bool is_below = (shape.bytes + 63) / 64 < least_lines_of_tiles(machine);
  if (is_below && add(BoardMethod::tree, time_of_bytes(BoardMethod::tree, shape, machine), 2)) return out;
  return is_below && shape.bytes < kLeastByDomains ? BoardGuesses{} : out;
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
  const auto take_this = [&](const Algorithm* algorithm, const WantedParameters& wanted) {
    if (algorithm == nullptr) return none;
    const Fit how = fit_board(*algorithm, wanted, shape, team);
    if (how.refusal != nullptr) return none;
    return Choice{.algorithm = algorithm, .shape = how.shape, .piece = how.piece, .why = {}};
  };
  const auto take = [&](BoardMethod method) {
    return take_this(board_algorithm(shape.operation, method), {});
  };
  const BoardGuesses guesses = guesses_of(shape, team);
  if (const std::span<const BoardGuess> made = guesses.made(); !made.empty()) {
    const auto best = std::ranges::min_element(made, {}, &BoardGuess::femtoseconds);
    return take_this(best->algorithm, best->wanted);
  }
  if (is_short(shape, team)) {
    for (const BoardMethod method : {method_for(shape, team), BoardMethod::flat}) {
      if (const Choice found = take(method); found.algorithm != nullptr) return found;
    }
  }
  return large ? take(large_method_for(shape, team)) : none;
}

BoardRun run_on_board(const Algorithm& chosen, const Shape& shape, std::uint32_t narrow) noexcept {
  BoardRun out{.algorithm = &chosen, .shape = shape, .by_domains = keeps_to_domains(chosen.board)};
  if (!is_large(chosen.board)) return out;
  // Members combine what is in the users' buffers.
  if (narrow != 0) {
    out.shape.bytes = shape.bytes / shape.element * narrow;
    out.shape.element = narrow;
    // What is added up in a wider type is rounded once, so there are no partial results: neither of domains nor up a tree.
    out.by_domains = false;
    if (goes_up_a_tree(chosen.board, shape.operation))
      out.algorithm = board_algorithm(shape.operation, BoardMethod::tiles);
  }
  out.shape.pitch = out.shape.bytes;
  return out;
}

namespace {

/// The members' domains, if what runs keeps to them; null: it does not, or there is one (may_go_by_domains).
const MemoryDomains* domains_of_run(const BoardRun& run, const TeamTraits& team) noexcept {
  const MemoryDomains& domains = team.on_board != nullptr ? team.on_board->domains : team.domains;
  if (!run.by_domains || domains.count < 2) return nullptr;
  const Shape& shape = run.shape;
  if (reduces(shape.operation) &&
      (shape.order == Order::exact || (!shape.commutative && !domains.in_team_order)))
    return nullptr;
  return &domains;
}

BoardRun run_of(const Choice& choice, const TeamTraits& team) noexcept {
  return run_on_board(*choice.algorithm, choice.shape, team.on_board != nullptr ? team.on_board->narrow : 0);
}

/// As place_in_rounds has it: inside domains, then across; and for those that take no part, one step before and one behind.
std::uint32_t depth_of_rounds(const MemoryDomains& domains, Rank ranks) noexcept {
  const std::uint32_t taking_part = std::bit_floor(domains.smallest) * std::bit_floor(domains.count);
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(taking_part)) - 1;
  return rounds + (taking_part == ranks ? 0 : 2);
}

}  // namespace

Cost cost_on_board(const Choice& choice, const TeamTraits& team) noexcept {
  const BoardRun run = run_of(choice, team);
  const Shape& shape = run.shape;
  Cost cost = run.algorithm->cost(shape);  // the passes of a schedule are not those of a board
  const BoardMethod method = run.algorithm->board;
  const MemoryDomains* const domains = domains_of_run(run, team);
  const auto levels = [&](std::uint32_t radix) {
    return domains != nullptr ? levels_by_domains(*domains, radix) : levels_of_tree(shape.ranks, radix);
  };
  const bool all_reduce = shape.operation == Operation::all_reduce;
  // Its own cost counts the rounds in which a member tells one at a time.
  if (method == BoardMethod::tree) cost.depth = (all_reduce ? 2 : 1) * levels(shape.parameters[0]);
  if (domains == nullptr) {
    // Without domains these are the simpler ones.
    const auto simpler = [&](BoardMethod other) {
      return board_algorithm(shape.operation, other)->cost(shape);
    };
    if (method == BoardMethod::domain_lines) return simpler(BoardMethod::flat);
    if (method == BoardMethod::domain_tiles) return simpler(BoardMethod::tiles);
    if (method == BoardMethod::domain_blocks) return simpler(BoardMethod::mapped);
    return cost;
  }
  switch (method) {
    case BoardMethod::dissemination: cost.depth = depth_of_rounds(*domains, shape.ranks); break;
    case BoardMethod::domains: cost.depth = 2 * levels(shape.ranks); break;
    case BoardMethod::large_tree:
      cost.depth = reduces(shape.operation)
                       ? levels(shape.parameters[0]) + 1 + (all_reduce ? levels(shape.ranks) : 0)
                       : 2 * levels(shape.parameters[0]);
      break;
    default: break;
  }
  return cost;
}

std::string board_lines(const Choice& choice, const TeamTraits& team) {
  const Cost cost = cost_on_board(choice, team);
  const BoardRun run = run_of(choice, team);
  const BoardMethod method = run.algorithm->board;
  std::string text;
  if (run.algorithm != choice.algorithm)
    text = fmt::format("  runs as {}: what is added up in a wider type has no partial results\n",
                       run.algorithm->name);
  if (!is_large(method)) {
    const std::uint64_t payload = most_published(method, run.shape);
    return fmt::format(
        "  on the team's board; a member publishes {}{} bytes, {}\n  moves at most {} lines, {} deep, beside "
        "those of Sync::all\n",
        method == BoardMethod::domain_lines ? "up to " : "", payload,
        payload <= kInlinePayload ? "beside its number" : "in memory of their own", cost.bytes / 64,
        cost.depth);
  }
  text += method == BoardMethod::stream
              ? "  bytes go through the team's board in pieces\n"
              : "  members access each other's buffers where these lie in segments; else the system copies "
                "bytes, or they go through the board\n";
  return text + fmt::format("  moves {} bytes, {} signals, {} deep, beside those of Sync::all\n", cost.bytes,
                            cost.messages, cost.depth);
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
