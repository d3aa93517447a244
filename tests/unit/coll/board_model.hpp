#pragma once

// A board on memory that one member at a time may touch: the library's own code, in small steps.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_of.hpp"
#include "tests/unit/coll/turn.hpp"
#include "topology/placement.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::coll::model {

inline constexpr Rank kMost = 4;
inline constexpr std::size_t kStack = 32 << 10;
inline constexpr std::uint64_t kPart = 2048;

struct ModelMemory {
  alignas(kBoardLine) std::byte part[kMost][kPart];
};

/// A member's program, on a stack of its own. It stops before each access to the common memory, and after a step in vain.
struct ModelFiber {
  Turn turn;
  std::uint64_t accesses = 0;  ///< since the step began
  std::uint64_t seen = 0;      ///< a hash of what they have read
  std::uint64_t waits_at = 0;  ///< the version of the memory of a step in vain; 0: none
  std::uint32_t call = 0;
  bool ended = false;
};

struct ModelRun;
inline ModelRun* the_run = nullptr;

/// What a member takes no notice of, which must be found: what others still read, in lines and in tiles; or it takes them to have
/// ended one movement more than they have, as if there were one slot more.
enum class Careless { no, of_readers, by_one };

/// Changes an address that only `fetch` may use: whoever else uses it crashes.
inline constexpr std::uintptr_t kElsewhere = std::uintptr_t{1} << 62;

struct ModelAccess {
  ModelMemory* memory;
  Rank me;
  Careless careless;

  BoardHead& head(Rank r) const { return *reinterpret_cast<BoardHead*>(memory->part[r]); }
  BoardCounts& counts(Rank r) const { return *reinterpret_cast<BoardCounts*>(memory->part[r] + kBoardLine); }
  BoardTiles& tiles(Rank r) const { return *reinterpret_cast<BoardTiles*>(memory->part[r] + 2 * kBoardLine); }
  BoardSlot& own(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(memory->part[r] + room.own_at(slot));
  }
  BoardSlot& inbox(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(memory->part[r] + room.inbox_at(slot));
  }
  std::byte* bulk(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return memory->part[r] + room.bulk_at(slot);
  }
  std::uint64_t load(const std::atomic<std::uint64_t>& word);
  void store(std::atomic<std::uint64_t>& word, std::uint64_t value);
  std::uint64_t add(std::atomic<std::uint64_t>& word, std::uint64_t value);
  bool swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value);
  std::uint64_t load_behind(const std::atomic<std::uint64_t>& word) { return load(word); }
  static std::byte* reach(Rank, const BufferNote& note, std::uint64_t) {
    return reinterpret_cast<std::byte*>(note.at);
  }
  bool fetch(Rank, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    const auto* const there =
        reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(from) ^ kElsewhere);
    reads(there, bytes);
    std::memcpy(to, there, bytes);
    return true;
  }
  // In the line of a number, which is what matters.
  static std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) { return word.load(); }
  static void relaxed(std::atomic<std::uint32_t>& word, std::uint32_t value) { word.store(value); }
  void reads(const std::byte*, std::uint64_t);
  static void have_read(Rank, std::uint64_t) {}
  static void have_written(Rank, std::uint64_t) {}
  static void have_staged(std::uint64_t) {}
  static void have_touched(std::uint64_t) {}
  static void have_copied(std::uint64_t) {}
  static void has_waited() {}
  static void moves(std::uint64_t) {}
  void writes(const std::byte*, std::uint64_t);
  static void prefetch(const void*) {}
  static void prefetch_for_write(const void*) {}
  static void wake(Rank) {}
  static void wake_all() {}
  static void wake_for_room(const std::atomic<std::uint64_t>&) {}
};

inline void combine_model(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + 4 * i, 4);
    std::memcpy(&b, static_cast<const std::byte*>(right) + 4 * i, 4);
    a = a * 10 + b;  // tells the order
    std::memcpy(static_cast<std::byte*>(to) + 4 * i, &a, 4);
  }
}
inline const BoardCombiner kCombiner{
    .combine = combine_model,
    .fold = kernels::Fold::of(UserOperator{combine_model, nullptr, sizeof(std::uint32_t), false})};
inline constexpr std::size_t kWords = 30;  ///< the most of a block: more than fits into a line

struct ModelCall {
  const Algorithm* algorithm;
  Shape shape;
};

/// What a case plays: the calls, one after the other, on each member.
struct ModelCase {
  Rank ranks;
  BoardRoom room;
  std::vector<ModelCall> calls;
  Careless careless = Careless::no;
  // Of large operations: how members reach each other's buffers.
  BufferNote::Kind in = BufferNote::address;
  BufferNote::Kind out = BufferNote::address;
  std::optional<topology::Placement> placement{};
  /// Members also stop behind a store, before they do with their own memory what they have left to do.
  bool stops_behind_stores = false;
};

/// One execution, as far as a list of choices goes.
struct ModelRun {
  explicit ModelRun(const ModelCase& it) : what(it), memory(std::make_unique<ModelMemory>()) {
    std::memset(memory.get(), 0, sizeof *memory);
    the_run = this;
    for (Rank r = 0; r < what.ranks; ++r) {
      boards.push_back(std::make_unique<BoardOf<ModelAccess>>(ModelAccess{memory.get(), r, what.careless},
                                                              what.room, what.ranks, r));
      plans.emplace_back(what.calls.size());
      for (std::size_t c = 0; c < what.calls.size(); ++c) {
        BoardPlan& plan = plans[r][c];
        make_plan(plan, *what.calls[c].algorithm, what.calls[c].shape, r, what.room,
                  what.placement ? &*what.placement : nullptr);
        // One tile an element, and one piece, as it is with longer blocks.
        plan.tile = plan.copied_tile = 4;
        if (is_large(plan.method)) {
          plan.piece = plan.strip = plan.unit = 4;
          count_pieces(plan);
        }
      }
      ModelFiber& fiber = *fibers.emplace_back(std::make_unique<ModelFiber>());
      fiber.turn.begin(
          kStack, [this, r] { program(r); }, scheduler);
      step(r);  // to its first access
    }
  }

  static std::uint32_t value(Rank member, std::size_t call) {
    return static_cast<std::uint32_t>(member + 1 + call);
  }

  void program(Rank me) {
    ModelFiber& fiber = *fibers[me];
    for (std::size_t c = 0; c < what.calls.size(); ++c) {
      fiber.call = static_cast<std::uint32_t>(c);
      const BoardPlan& plan = plans[me][c];
      for (std::uint32_t i = 0; i < kWords; ++i) {
        buffers.in[me][i] = value(me, c) + i;
        buffers.out[me][i] = 0;
      }
      BoardOp& op = ops[me];
      op.plan = &plan;
      op.combiner = &kCombiner;
      op.in = reinterpret_cast<const std::byte*>(buffers.in[me]);
      op.out = reinterpret_cast<std::byte*>(buffers.out[me]);
      op.notes = {note(buffers.in[me], what.in), note(buffers.out[me], what.out)};
      op.mark = 7 + static_cast<std::uint32_t>(c);
      boards[me]->begin(op);
      while (true) {
        fiber.accesses = fiber.seen = 0;
        if (boards[me]->step(op)) break;
        if (boards[me]->disagrees()) wrong = "a member sees another call";
        fiber.accesses = fiber.seen = 0;
        fiber.waits_at = version;
        fiber.turn.pass_to(scheduler);
        fiber.waits_at = 0;
      }
      for (std::uint32_t i = 0; i < plan.count; ++i) check(me, c, plan, i, buffers.out[me][i]);
      if (what.calls[c].shape.out == Sync::all) check_others(me, c);
      // They are the program's again.
      for (std::uint32_t i = 0; i < kWords; ++i) buffers.in[me][i] = buffers.out[me][i] = 77;
    }
    fiber.ended = true;
  }
  static BufferNote note(const void* memory, BufferNote::Kind kind) {
    if (kind == BufferNote::nowhere) return {};
    const std::uintptr_t elsewhere = kind == BufferNote::of_process ? kElsewhere : 0;
    return {.at = reinterpret_cast<std::uintptr_t>(memory) ^ elsewhere, .segment = 0, .kind = kind};
  }
  void check(Rank me, std::size_t c, const BoardPlan& plan, std::uint32_t i, std::uint32_t out) {
    std::uint32_t all = 0;
    for (Rank r = 0; r < what.ranks; ++r) all = all * 10 + value(r, c) + i;
    const bool has =
        plan.operation == Operation::all_reduce || (plan.operation == Operation::reduce && me == plan.root);
    std::uint32_t turned = 0;  // in a dissemination of three, member 0 takes part for member 2
    for (const Rank r : {0u, 2u, 1u}) turned = turned * 10 + value(r, c) + i;
    std::uint32_t halves[2] =
        {};  // of four, by a tree or a dissemination: each of two pairs has a partial result
    for (Rank r = 0; r < what.ranks; ++r) halves[r / 2 % 2] = halves[r / 2 % 2] * 10 + value(r, c) + i;
    const BoardMethod method = what.calls[c].algorithm->board;
    const bool in_pairs =
        what.ranks == 4 && (method == BoardMethod::dissemination || method == BoardMethod::tree);
    bool from_any = false;  // by cyclic tiles: from the member on that combines
    for (Rank first = 0; method == BoardMethod::cyclic_tiles && first < what.ranks; ++first) {
      std::uint32_t cyclic = 0;
      for (Rank r = 0; r < what.ranks; ++r) cyclic = cyclic * 10 + value((first + r) % what.ranks, c) + i;
      from_any = from_any || out == cyclic;
    }
    // Up a tree: from the root on, which may be alone, or has the first of two pairs.
    std::uint32_t in_turn = 0, from_last = 0, behind_root = 0, pairs[2] = {};
    for (Rank r = 0; method == BoardMethod::large_tree && r < what.ranks; ++r) {
      const std::uint32_t its = value((plan.root + r) % what.ranks, c) + i;
      in_turn = in_turn * 10 + its;
      from_last = from_last * 10 + value((plan.root + what.ranks - r) % what.ranks, c) + i;
      if (r != 0) behind_root = behind_root * 10 + its;
      pairs[r / 2 % 2] = pairs[r / 2 % 2] * 10 + its;
    }
    if (method == BoardMethod::large_tree)
      from_any =
          out == in_turn || (what.ranks == 4 && out == pairs[0] * 10 + pairs[1]) ||
          (what.ranks == 3 && (out == from_last || out == (value(plan.root, c) + i) * 10 + behind_root));
    const bool either = from_any || (method == BoardMethod::dissemination && out == turned) ||
                        (in_pairs && out == halves[0] * 10 + halves[1]);
    std::uint32_t before = 0;  // a scan's sum
    for (Rank r = 0; r < me + (plan.operation == Operation::scan ? 1u : 0u); ++r)
      before = before * 10 + value(r, c) + i;
    const bool scans = plan.operation == Operation::scan || (plan.operation == Operation::exscan && me != 0);
    if ((has && out != all && !either) || (scans && out != before))
      wrong = "call " + std::to_string(c) + ": a wrong sum " + std::to_string(out);
    if (plan.operation == Operation::broadcast && out != value(plan.root, c) + i)
      wrong = "call " + std::to_string(c) + ": a wrong broadcast " + std::to_string(out);
    if (plan.operation == Operation::scatter &&
        out != value(plan.root, c) + static_cast<std::uint32_t>(me * plan.count) + i)
      wrong = "call " + std::to_string(c) + ": a wrong scatter " + std::to_string(out);
    // Of blocks of its own.
    const auto mine = static_cast<std::uint32_t>(me * plan.count) + i;
    std::uint32_t sum = 0;
    for (Rank r = 0; r < what.ranks; ++r) sum = sum * 10 + value(r, c) + mine;
    if (plan.operation == Operation::reduce_scatter && out != sum)
      wrong = "call " + std::to_string(c) + ": a wrong sum of blocks " + std::to_string(out);
    for (Rank r = 0; plan.operation == Operation::all_to_all && r < what.ranks; ++r) {
      if (buffers.out[me][r * plan.count + i] != value(r, c) + mine)
        wrong = "call " + std::to_string(c) + ": wrong blocks of all";
    }
    const bool gathers =
        plan.operation == Operation::all_gather || (plan.operation == Operation::gather && me == plan.root);
    for (Rank r = 0; gathers && r < what.ranks; ++r) {
      if (buffers.out[me][r * plan.count + i] != value(r, c) + i)
        wrong = "call " + std::to_string(c) + ": wrong blocks";
    }
  }

  /// A member has ended a call with Sync::all: what the others have is final, though they may not know that all have ended.
  void check_others(Rank me, std::size_t c) {
    for (Rank r = 0; r < what.ranks; ++r) {
      if (r == me || fibers[r]->ended || fibers[r]->call != c) continue;
      for (std::uint32_t i = 0; i < plans[r][c].count; ++i) check(r, c, plans[r][c], i, buffers.out[r][i]);
    }
  }

  /// Before an access.
  void stop(Rank me) {
    ++fibers[me]->accesses;
    fibers[me]->turn.pass_to(scheduler);
  }
  void step(Rank r) { scheduler.pass_to(fibers[r]->turn); }
  bool may_step(Rank r) const {
    return !fibers[r]->ended && (fibers[r]->waits_at == 0 || fibers[r]->waits_at != version);
  }
  bool over() const {
    for (const auto& fiber : fibers) {
      if (!fiber->ended) return false;
    }
    return true;
  }
  std::string state() const {
    std::string text(reinterpret_cast<const char*>(&buffers), sizeof buffers);
    for (Rank r = 0; r < what.ranks; ++r) {
      text.append(reinterpret_cast<const char*>(memory->part[r]), what.room.bytes());
      const ModelFiber& fiber = *fibers[r];
      const std::uint64_t numbers[] = {
          fiber.call,          fiber.accesses,
          fiber.seen,          ops[r].movement,
          ops[r].at,           ops[r].shown + 2u * ops[r].is_last,
          ops[r].piece,        ops[r].tile * 16 + ops[r].claimed * 4 + static_cast<unsigned>(ops[r].way),
          boards[r]->digest(), fiber.waits_at == 0 ? 0u : fiber.waits_at == version ? 1u : 2u,
          fiber.ended};
      text.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    }
    return text;
  }

  const ModelCase& what;
  std::unique_ptr<ModelMemory> memory;
  struct {
    std::uint32_t in[kMost][kWords];
    std::uint32_t out[kMost][kWords];
  } buffers{};
  std::uint64_t version = 1;
  std::vector<std::unique_ptr<BoardOf<ModelAccess>>> boards;
  std::vector<std::vector<BoardPlan>> plans;
  std::vector<std::unique_ptr<ModelFiber>> fibers;
  BoardOp ops[kMost];
  Turn scheduler;
  std::string wrong;
};

inline std::uint64_t ModelAccess::load(const std::atomic<std::uint64_t>& word) {
  the_run->stop(me);
  std::uint64_t value = word.load();
  for (Rank r = 0; careless != Careless::no && r < kMost; ++r) {
    if (careless == Careless::by_one && &word == &head(r).done) ++value;
    if (careless == Careless::of_readers && (&word == &head(r).done || &word == &tiles(r).done))
      value = ~std::uint64_t{0} >> 1;
  }
  the_run->fibers[me]->seen = the_run->fibers[me]->seen * 1'000'003 + value;
  return value;
}
inline void ModelAccess::store(std::atomic<std::uint64_t>& word, std::uint64_t value) {
  the_run->stop(me);
  word.store(value);
  ++the_run->version;
  if (the_run->what.stops_behind_stores) the_run->stop(me);
}
inline std::uint64_t ModelAccess::add(std::atomic<std::uint64_t>& word, std::uint64_t value) {
  the_run->stop(me);
  ++the_run->version;
  return word.fetch_add(value) + value;
}
inline bool ModelAccess::swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value) {
  the_run->stop(me);
  const bool is_so = word.load() == before;
  the_run->fibers[me]->seen = the_run->fibers[me]->seen * 1'000'003 + (is_so ? 1 : 0);
  if (is_so) word.store(value);
  the_run->version += is_so ? 1 : 0;
  return is_so;
}
inline void ModelAccess::reads(const std::byte*, std::uint64_t) { the_run->stop(me); }
inline void ModelAccess::writes(const std::byte*, std::uint64_t) {
  the_run->stop(me);
  ++the_run->version;
}

}  // namespace aqueduct::coll::model
