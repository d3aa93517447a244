// Every interleaving of the boards' algorithms, in small steps: the library's own code, on memory that one member at a time
// may touch.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_of.hpp"
#include "topology/placement.hpp"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr Rank kMost = 4;
constexpr std::size_t kStack = 32 << 10;
constexpr std::uint64_t kPart = 2048;

struct ModelMemory {
  alignas(kBoardLine) std::byte part[kMost][kPart];
};

/// A member's program, on a stack of its own. It stops before each access to the common memory, and after a step in vain.
struct ModelFiber {
  ucontext_t here{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
  std::uint64_t accesses = 0;  ///< since the step began
  std::uint64_t seen = 0;      ///< a hash of what they have read
  std::uint64_t waits_at = 0;  ///< the version of the memory of a step in vain; 0: none
  std::uint32_t call = 0;
  bool ended = false;
};

struct ModelRun;
ModelRun* the_run = nullptr;

/// What a member takes no notice of, which must be found: what others still read, in lines and in tiles; or it takes them to have
/// ended one movement more than they have, as if there were one slot more.
enum class Careless { no, of_readers, by_one };

/// Changes an address that only `fetch` may use: whoever else uses it crashes.
constexpr std::uintptr_t kElsewhere = std::uintptr_t{1} << 62;

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
  static void moves(std::uint64_t) {}
  void writes(const std::byte*, std::uint64_t);
  static void prefetch(const void*) {}
  static void prefetch_for_write(const void*) {}
  static void wake(Rank) {}
  static void wake_all() {}
  static void wake_for_room(const std::atomic<std::uint64_t>&) {}
};

void combine_model(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + 4 * i, 4);
    std::memcpy(&b, static_cast<const std::byte*>(right) + 4 * i, 4);
    a = a * 10 + b;  // tells the order
    std::memcpy(static_cast<std::byte*>(to) + 4 * i, &a, 4);
  }
}
const BoardCombiner kCombiner{
    .combine = combine_model,
    .fold = kernels::Fold::of(UserOperator{combine_model, nullptr, sizeof(std::uint32_t), false})};
constexpr std::size_t kWords = 30;  ///< the most of a block: more than fits into a line

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
      getcontext(&fiber.here);
      fiber.here.uc_stack.ss_sp = fiber.stack.get();
      fiber.here.uc_stack.ss_size = kStack;
      fiber.here.uc_link = &scheduler;
      makecontext(&fiber.here,
                  reinterpret_cast<void (*)()>(+[](int r) { the_run->program(static_cast<Rank>(r)); }), 1,
                  static_cast<int>(r));
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
        swapcontext(&fiber.here, &scheduler);
        fiber.waits_at = 0;
      }
      for (std::uint32_t i = 0; i < plan.count; ++i) check(me, c, plan, i, buffers.out[me][i]);
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
    const bool either = (method == BoardMethod::dissemination && out == turned) ||
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

  /// Before an access.
  void stop(Rank me) {
    ++fibers[me]->accesses;
    swapcontext(&fibers[me]->here, &scheduler);
  }
  void step(Rank r) { swapcontext(&scheduler, &fibers[r]->here); }
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
  ucontext_t scheduler{};
  std::string wrong;
};

std::uint64_t ModelAccess::load(const std::atomic<std::uint64_t>& word) {
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
void ModelAccess::store(std::atomic<std::uint64_t>& word, std::uint64_t value) {
  the_run->stop(me);
  word.store(value);
  ++the_run->version;
}
std::uint64_t ModelAccess::add(std::atomic<std::uint64_t>& word, std::uint64_t value) {
  the_run->stop(me);
  ++the_run->version;
  return word.fetch_add(value) + value;
}
bool ModelAccess::swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value) {
  the_run->stop(me);
  const bool is_so = word.load() == before;
  the_run->fibers[me]->seen = the_run->fibers[me]->seen * 1'000'003 + (is_so ? 1 : 0);
  if (is_so) word.store(value);
  the_run->version += is_so ? 1 : 0;
  return is_so;
}
void ModelAccess::reads(const std::byte*, std::uint64_t) { the_run->stop(me); }
void ModelAccess::writes(const std::byte*, std::uint64_t) {
  the_run->stop(me);
  ++the_run->version;
}

struct ModelResult {
  std::string wrong;
  std::size_t states = 0;
};

/// Visits all states, by the choices that lead to them, or so many.
ModelResult explore(const ModelCase& what, std::size_t most = ~std::size_t{0}) {
  ModelResult result;
  std::unordered_set<std::size_t> seen;
  std::vector<std::vector<Rank>> todo{{}};
  while (!todo.empty() && result.wrong.empty() && seen.size() < most) {
    std::vector<Rank> path = std::move(todo.back());
    todo.pop_back();
    ModelRun run(what);
    for (const Rank r : path) run.step(r);
    // Goes on by first choices as long as the states are new, and remembers the others.
    while (run.wrong.empty() && seen.insert(std::hash<std::string>()(run.state())).second) {
      std::vector<Rank> choices;
      for (Rank r = 0; r < what.ranks; ++r) {
        if (run.may_step(r)) choices.push_back(r);
      }
      if (choices.empty()) {
        if (!run.over()) run.wrong = "members wait for ever";
        break;
      }
      for (std::size_t i = 1; i < choices.size(); ++i) {
        todo.push_back(path);
        todo.back().push_back(choices[i]);
      }
      path.push_back(choices[0]);
      run.step(choices[0]);
    }
    result.wrong = run.wrong;
  }
  result.states = seen.size();
  return result;
}

/// Plays orders of chance, each to its end.
std::string wander(const ModelCase& what, std::uint32_t walks) {
  for (std::uint32_t seed = 1; seed <= walks; ++seed) {
    std::mt19937 dice(seed);
    // Some walks favour one member, which then is ahead of the others or behind them by all that it may.
    const Rank favoured = dice() % (2 * what.ranks);
    ModelRun run(what);
    while (run.wrong.empty()) {
      std::vector<Rank> choices;
      for (Rank r = 0; r < what.ranks; ++r) {
        if (run.may_step(r)) choices.push_back(r);
      }
      if (choices.empty()) break;
      Rank next = choices[dice() % choices.size()];
      if (favoured < what.ranks && dice() % 16 != 0 && run.may_step(favoured)) next = favoured;
      run.step(next);
    }
    if (run.wrong.empty() && !run.over()) run.wrong = "members wait for ever";
    if (!run.wrong.empty()) return "walk " + std::to_string(seed) + ": " + run.wrong;
  }
  return {};
}

ModelCall call_of(Operation operation, BoardMethod method, Rank ranks, Rank root, Sync in = Sync::mine,
                  Sync out = Sync::mine, std::uint32_t up = 1, std::uint32_t down = 2) {
  ModelCall call{board_algorithm(operation, method), {}};
  Shape& shape = call.shape;
  shape.operation = operation;
  shape.in = in;
  shape.out = out;
  shape.ranks = ranks;
  shape.root = root;
  shape.element = 4;
  shape.bytes = shape.pitch = 4;
  if (method == BoardMethod::tree) shape.parameters = {2, up, down};
  return call;
}

class BoardModel : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "sanitizers do not follow the model's stacks";
#endif
  }
  static void all_are_right(const ModelCase& what, std::size_t most = ~std::size_t{0}) {
    const ModelResult result = explore(what, most);
    EXPECT_EQ(result.wrong, "") << what.ranks << " members, " << what.room.slots << " slots";
    EXPECT_GT(result.states, 20u);
  }
};

TEST_F(BoardModel, ThreeCallsInARowOfTwoMembersInEveryOrder) {
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const BoardMethod method :
         {BoardMethod::flat, BoardMethod::last, BoardMethod::dissemination, BoardMethod::tree}) {
      for (const Sync sync : {Sync::mine, Sync::all}) {
        ModelCase what{2, {.slots = slots, .narrow = slots, .bulk = 0}, {}};
        for (int i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::all_reduce, method, 2, 0, sync, sync));
        all_are_right(what);
      }
    }
  }
}

TEST_F(BoardModel, BroadcastsAndReductionsWithChangingRootsInEveryOrder) {
  for (const Rank ranks : {2u, 3u}) {
    for (const BoardMethod method : {BoardMethod::flat, BoardMethod::last, BoardMethod::tree}) {
      for (const std::uint32_t way : {1u, 2u}) {
        if (way == 2 && method != BoardMethod::tree) continue;
        ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
        what.calls.push_back(
            call_of(Operation::broadcast, method, ranks, 0, Sync::mine, Sync::mine, way, way));
        what.calls.push_back(call_of(Operation::reduce, method, ranks, 0, Sync::none, Sync::none, way, way));
        if (ranks == 2)
          what.calls.push_back(
              call_of(Operation::broadcast, method, ranks, ranks - 1, Sync::mine, Sync::mine, 3 - way, way));
        all_are_right(what);
      }
    }
  }
}

/// Calls of which bytes go beside the lines, of which there are more.
void make_long(ModelCase& what) {
  what.room = {.slots = 2, .narrow = 1, .bulk = 128};
  for (ModelCall& call : what.calls) call.shape.bytes = call.shape.pitch = 4 * kWords;
}

TEST_F(BoardModel, MoreLinesThanSlotsBesideThemInEveryOrder) {
  for (const bool is_long : {false, true}) {
    for (const std::uint32_t down : {1u, 2u}) {
      for (const Rank ranks : {2u, 3u}) {
        ModelCase what{ranks, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
        for (int i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, ranks, 0, Sync::mine,
                                       Sync::mine, 2, i == 1 ? 3 - down : down));
        if (is_long) make_long(what);
        all_are_right(what);
      }
    }
    ModelCase what{2, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
    for (int i = 0; i < 3; ++i)
      what.calls.push_back(call_of(Operation::reduce, BoardMethod::tree, 2, 0, Sync::mine, Sync::mine, 2, 2));
    what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::last, 2, 0));
    what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 2, 1));
    if (is_long) make_long(what);
    all_are_right(what);
  }
}

TEST_F(BoardModel, FindsAnInboxThatIsWrittenTooEarly) {
  ModelCase what{2, {.slots = 2, .narrow = 1, .bulk = 0}, {}, Careless::by_one};
  for (int i = 0; i < 3; ++i) what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 2, 0));
  EXPECT_NE(explore(what).wrong, "");
}

TEST_F(BoardModel, AllReducesOfThreeMembersInEveryOrder) {
  for (const BoardMethod method : {BoardMethod::flat, BoardMethod::last, BoardMethod::tree}) {
    ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
    what.calls.push_back(call_of(Operation::all_reduce, method, 3, 0, Sync::none, Sync::none, 2, 1));
    if (method == BoardMethod::last)
      what.calls.push_back(call_of(Operation::all_reduce, method, 3, 0, Sync::none, Sync::none, 1, 2));
    all_are_right(what);
  }
}

TEST_F(BoardModel, ScansInEveryOrder) {
  for (const BoardMethod method : {BoardMethod::flat, BoardMethod::chain}) {
    for (const Operation operation : {Operation::scan, Operation::exscan}) {
      for (const Rank ranks : {2u, 3u}) {
        ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
        for (int i = 0; i < 2; ++i) what.calls.push_back(call_of(operation, method, ranks, 0));
        if (ranks == 2) what.calls.push_back(call_of(operation, method, ranks, 0, Sync::all, Sync::all));
        all_are_right(what);
      }
    }
  }
}

/// A large operation of two words.
ModelCall large_call(Operation operation, BoardMethod method, Rank ranks, Rank root, Sync sync) {
  ModelCall call = call_of(operation, method, ranks, root, sync, sync);
  call.shape.bytes = call.shape.pitch = 8;
  return call;
}
constexpr BoardRoom kPiecesOfAWord{.slots = 1, .narrow = 1, .bulk = 4};

TEST_F(BoardModel, LargeOperationsInEveryOrder) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kCopied = BufferNote::of_process;
  constexpr auto kNowhere = BufferNote::nowhere;
  for (const auto& [in, out] : {std::pair{kMapped, kMapped},
                                {kNowhere, kNowhere},
                                {kNowhere, kMapped},
                                {kCopied, kMapped},
                                {kCopied, kNowhere}}) {
    for (const Sync sync : {Sync::mine, Sync::all}) {
      if (sync == Sync::all && (in == kCopied || in != out)) continue;  // moves bytes as the others do
      for (const BoardMethod method : {BoardMethod::tiles, BoardMethod::claims}) {
        for (const Operation operation : {Operation::all_reduce, Operation::reduce}) {
          ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
          for (int i = 0; i < 2; ++i) what.calls.push_back(large_call(operation, method, 2, 1, sync));
          all_are_right(what);
        }
      }
      for (const BoardMethod method : {BoardMethod::mapped, BoardMethod::two_stage}) {
        ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
        for (Rank root = 0; root < 2; ++root)
          what.calls.push_back(large_call(Operation::broadcast, method, 2, root, sync));
        all_are_right(what);
      }
      if (in == kMapped) {  // however they reach each other's buffers
        for (const Operation operation : {Operation::broadcast, Operation::scatter, Operation::gather,
                                          Operation::reduce, Operation::all_reduce, Operation::all_gather}) {
          ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
          for (Rank root = 0; root < 2; ++root)
            what.calls.push_back(large_call(operation, BoardMethod::stream, 2, root, sync));
          all_are_right(what);
        }
      }
      for (const Operation operation : {Operation::scatter, Operation::gather, Operation::all_gather}) {
        ModelCase what{2, {.slots = 1, .narrow = 1, .bulk = 8}, {}, Careless::no, in, out};
        for (Rank root = 0; root < 2; ++root)
          what.calls.push_back(large_call(operation, BoardMethod::mapped, 2, root, sync));
        all_are_right(what);
      }
    }
  }
}

// The root writes to all, or not, and the others can only know from it.
TEST_F(BoardModel, AScatterAmongThreeInEveryOrder) {
  for (const BufferNote::Kind out : {BufferNote::address, BufferNote::nowhere}) {
    ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 12}, {}, Careless::no, BufferNote::nowhere, out};
    what.calls.push_back(large_call(Operation::scatter, BoardMethod::mapped, 3, 1, Sync::mine));
    what.calls.back().shape.bytes = what.calls.back().shape.pitch = 4;
    all_are_right(what);
  }
}

constexpr std::uint32_t kWalks = 60;

// Three operations in a row among three and four members have more orders than can be visited: some of them, by chance.
TEST_F(BoardModel, LargeOperationsOfThreeAndFourMembersInOrdersOfChance) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kCopied = BufferNote::of_process;
  constexpr auto kNowhere = BufferNote::nowhere;
  struct Entry {
    Operation operation;
    std::vector<BoardMethod> methods;
  };
  const Entry entries[] = {
      {Operation::broadcast,
       {BoardMethod::mapped, BoardMethod::two_stage, BoardMethod::domains, BoardMethod::stream}},
      {Operation::scatter, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::gather, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::all_gather, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::reduce, {BoardMethod::tiles, BoardMethod::claims, BoardMethod::stream}},
      {Operation::all_reduce, {BoardMethod::tiles, BoardMethod::claims, BoardMethod::stream}},
  };
  for (const Rank ranks : {3u, 4u}) {
    for (const auto& [in, out] : {std::pair{kMapped, kMapped},
                                  {kNowhere, kNowhere},
                                  {kNowhere, kMapped},
                                  {kCopied, kMapped},
                                  {kCopied, kNowhere}}) {
      for (const auto& [operation, methods] : entries) {
        for (const BoardMethod method : methods) {
          if (method == BoardMethod::stream && (in != kMapped || out != kMapped))
            continue;  // reaches no buffer
          ModelCase what{ranks, {.slots = 2, .narrow = 1, .bulk = 4 * ranks}, {}, Careless::no, in, out};
          for (Rank i = 0; i < 3; ++i)
            what.calls.push_back(large_call(operation, method, ranks,
                                            has_root(operation) ? (ranks - 1 + i) % ranks : 0,
                                            i == 2   ? Sync::all
                                            : i == 1 ? Sync::none
                                                     : Sync::mine));
          EXPECT_EQ(wander(what, kWalks), "")
              << what.calls[0].algorithm->name << " of " << ranks << ", operation "
              << static_cast<int>(operation) << ", in " << in << ", out " << out;
        }
      }
    }
  }
}

TEST_F(BoardModel, ShortOperationsOfFourMembersInOrdersOfChance) {
  for (const BoardMethod method :
       {BoardMethod::flat, BoardMethod::last, BoardMethod::tree, BoardMethod::dissemination}) {
    for (const std::uint32_t slots : {1u, 2u}) {
      for (const std::uint32_t way : {1u, 2u}) {
        ModelCase what{4, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        for (Rank i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::all_reduce, method, 4, 0, i == 2 ? Sync::all : Sync::mine,
                                       i == 2 ? Sync::all : Sync::mine, way, 3 - way));
        EXPECT_EQ(wander(what, kWalks), "") << what.calls[0].algorithm->name << ", " << slots << " slots";
        if (method == BoardMethod::dissemination) continue;
        ModelCase rooted{4, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        rooted.calls.push_back(call_of(Operation::broadcast, method, 4, 1, Sync::mine, Sync::mine, way, way));
        rooted.calls.push_back(call_of(Operation::reduce, method, 4, 0, Sync::none, Sync::none, way, way));
        rooted.calls.push_back(
            call_of(Operation::broadcast, method, 4, 3, Sync::mine, Sync::all, way, 3 - way));
        EXPECT_EQ(wander(rooted, kWalks), "") << rooted.calls[0].algorithm->name << ", " << slots << " slots";
      }
    }
  }
}

// The walks find what the visits of all orders find.
TEST_F(BoardModel, OrdersOfChanceFindASlotThatIsWrittenTooEarly) {
  for (const Rank ranks : {3u, 4u}) {
    ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
    for (int i = 0; i < 3; ++i)
      what.calls.push_back(call_of(Operation::broadcast, BoardMethod::flat, ranks, 0));
    EXPECT_NE(wander(what, kWalks), "");
  }
}

/// Three members, of whom two share a domain. `apart`: the one that is alone.
topology::Placement two_domains(Rank apart) {
  const Rank members[] = {0, 1, 2};
  const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", 2, true}};
  return topology::Placement::of(members, levels, [&](Rank member, std::size_t level) {
    return level == 0 || member != apart ? 0u : 1u;
  });
}

TEST_F(BoardModel, BroadcastsByDomainsInEveryOrder) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kNowhere = BufferNote::nowhere;
  for (const auto& [in, out] : {std::pair{kMapped, kMapped}, {kMapped, kNowhere}, {kNowhere, kMapped}}) {
    for (const Rank root : {0u, 2u}) {
      ModelCase what{3, kPiecesOfAWord, {}, Careless::no, in, out, two_domains(2)};
      what.calls.push_back(large_call(Operation::broadcast, BoardMethod::domains, 3, root, Sync::mine));
      all_are_right(what);
    }
  }
  ModelCase what{2, kPiecesOfAWord, {}};
  for (Rank root = 0; root < 2; ++root)
    what.calls.push_back(large_call(Operation::broadcast, BoardMethod::domains, 2, root, Sync::all));
  all_are_right(what);
}

// Three members in several stages have more orders than can be tried: the first that a search finds.
TEST_F(BoardModel, ReductionsByDomainsInManyOrders) {
  constexpr std::size_t kMostStates = 10'000;
  for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
    for (const Rank root : {2u, 0u}) {
      ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
      what.placement = two_domains(2);
      what.calls.push_back(large_call(operation, BoardMethod::domain_tiles, 3,
                                      operation == Operation::reduce ? root : 0, Sync::mine));
      if (root == 0) what.calls.push_back(what.calls[0]);
      all_are_right(what, kMostStates);  // varies the latest choices first
      EXPECT_EQ(wander(what, 10 * kWalks), "") << what.calls[0].algorithm->name << ", root " << root;
    }
  }
}

TEST_F(BoardModel, BlocksByDomainsInManyOrders) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kNowhere = BufferNote::nowhere;
  struct Entry {
    Operation operation;
    BoardMethod method;
  };
  for (const Entry& entry : {Entry{Operation::all_gather, BoardMethod::domain_blocks},
                             {Operation::all_to_all, BoardMethod::domain_blocks},
                             {Operation::reduce_scatter, BoardMethod::domain_tiles}}) {
    for (const auto& [in, out] : {std::pair{kMapped, kMapped}, {kNowhere, kMapped}, {kMapped, kNowhere}}) {
      for (const Rank calls : {1u, 2u}) {
        ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 24}, {}, Careless::no, in, out, two_domains(2)};
        for (Rank i = 0; i < calls; ++i)
          what.calls.push_back(large_call(entry.operation, entry.method, 3, 0, Sync::mine));
        EXPECT_EQ(wander(what, 10 * kWalks), "")
            << what.calls[0].algorithm->name << ", in " << in << ", out " << out;
      }
    }
  }
}

/// Four members, of whom those with even numbers share a domain, and the others do.
topology::Placement even_and_odd() {
  const Rank members[] = {0, 1, 2, 3};
  const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", 2, true}};
  return topology::Placement::of(members, levels,
                                 [](Rank member, std::size_t level) { return level == 0 ? 0u : member % 2; });
}

// Two calls on a board with one slot in every order, else in the first ones that a search finds.
TEST_F(BoardModel, ShortAllGathersByDomainsInEveryOrder) {
  constexpr std::size_t kMostStates = 10'000;
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const Rank apart : {0u, 2u}) {
      ModelCase what{3, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
      what.placement = two_domains(apart);
      // Three take minutes, and were right.
      for (int i = 0; i < 2; ++i)
        what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
      all_are_right(what, slots == 1 && apart == 2 ? ~std::size_t{0} : kMostStates);
    }
  }
}

TEST_F(BoardModel, ShortAllGathersByDomainsOfFourMembersInOrdersOfChance) {
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const std::uint64_t bytes : {4u, 28u}) {
      for (const Rank ranks : {3u, 4u}) {
        ModelCase what{ranks, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        what.placement = ranks == 4 ? even_and_odd() : two_domains(1);
        for (int i = 0; i < 3; ++i) {
          const Sync sync = i == 0 ? Sync::mine : i == 1 ? Sync::none : Sync::all;
          what.calls.push_back(
              call_of(Operation::all_gather, BoardMethod::domain_lines, ranks, 0, sync, sync));
          what.calls.back().shape.bytes = what.calls.back().shape.pitch = bytes;
        }
        EXPECT_EQ(wander(what, 4 * kWalks), "") << ranks << " members, " << slots << " slots";
      }
    }
  }
  // What is packed goes beside the lines.
  ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 128}, {}};
  what.placement = two_domains(2);
  for (int i = 0; i < 3; ++i) {
    what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
    what.calls.back().shape.bytes = what.calls.back().shape.pitch = 40;
  }
  EXPECT_EQ(wander(what, 4 * kWalks), "");
}

TEST_F(BoardModel, FindsPackedBlocksThatAreWrittenTooEarly) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
  what.placement = two_domains(2);
  for (int i = 0; i < 2; ++i)
    what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
  EXPECT_NE(wander(what, kWalks), "");
}

TEST_F(BoardModel, FindsAStripThatIsWrittenTooEarly) {
  // One call with room for many slots: it is the strips of one slot that come too early, and a member then combines a later one.
  ModelCase what{3, {.slots = 8, .narrow = 1, .bulk = 128}, {}, Careless::of_readers};
  what.placement = two_domains(2);
  what.calls.push_back(large_call(Operation::reduce_scatter, BoardMethod::domain_tiles, 3, 0, Sync::mine));
  const std::string wrong = wander(what, kWalks);
  EXPECT_NE(wrong.find("a wrong sum"), std::string::npos) << wrong;
}

TEST_F(BoardModel, ADisseminationWithHelpInEveryOrder) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
  for (int i = 0; i < 2; ++i)
    what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::dissemination, 3, 0));
  all_are_right(what);
}

TEST_F(BoardModel, TreesByDomainsInEveryOrder) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
  what.placement = two_domains(2);
  what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::tree, 3, 0));
  what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 3, 2));
  all_are_right(what);
}

TEST_F(BoardModel, ClaimsOfThreeMembersInEveryOrder) {
  ModelCase what{3, kPiecesOfAWord, {}};
  what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::claims, 3, 0));
  all_are_right(what);
}

TEST_F(BoardModel, FindsTilesThatAreNotWaitedFor) {
  ModelCase what{2, kPiecesOfAWord, {}, Careless::of_readers};
  what.calls.push_back(large_call(Operation::all_reduce, BoardMethod::claims, 2, 0, Sync::mine));
  EXPECT_NE(explore(what).wrong, "");
}

TEST_F(BoardModel, FindsASlotThatIsWrittenTooEarly) {
  ModelCase what{2, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
  for (int i = 0; i < 2; ++i) what.calls.push_back(call_of(Operation::broadcast, BoardMethod::flat, 2, 0));
  EXPECT_NE(explore(what).wrong, "");
}

}  // namespace
}  // namespace aqueduct::coll
