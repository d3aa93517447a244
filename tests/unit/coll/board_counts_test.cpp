// What a call on a board moves, exactly: lines, those that cross from one domain of memory to another, and bytes that are touched.

#include "coll/model/memory_forms.hpp"
#include "coll/schedule/schedule.hpp"
#include "tests/unit/coll/counted_board.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace aqueduct::coll::counted {
namespace {

constexpr BoardRoom kRoom{.slots = 8, .narrow = 8, .bulk = 1024};
constexpr Host kHosts[] = {{2, 6}, {2, 6, true}, {4, 8}, {4, 8, true}};

void add_all(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t a, b;
    std::memcpy(&a, static_cast<const std::byte*>(left) + 4 * i, 4);
    std::memcpy(&b, static_cast<const std::byte*>(right) + 4 * i, 4);
    a += b;
    std::memcpy(static_cast<std::byte*>(to) + 4 * i, &a, 4);
  }
}
const BoardCombiner kAdd{
    .combine = add_all,
    .fold = kernels::Fold::of(UserOperator{add_all, nullptr, sizeof(std::uint32_t), true})};

Shape shape_of(Operation operation, const Host& host, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.in = shape.out = Sync::mine;
  shape.ranks = host.ranks();
  shape.element = sizeof(std::uint32_t);
  shape.bytes = shape.pitch = bytes;
  return shape;
}

std::string name_of_host(const Host& host) {
  return std::to_string(host.domains) + " x " + std::to_string(host.each) +
         (host.scattered ? ", scattered" : "");
}

std::uint32_t value(Rank member, std::size_t i, std::uint32_t call) {
  return member * 1000 + static_cast<std::uint32_t>(i) + call;
}

/// What each call moves after some calls; they are alike.
Counts counts_of(const Host& host, BoardMethod method, Shape shape) {
  const Algorithm* const algorithm = board_algorithm(shape.operation, method);
  if (method == BoardMethod::tree) shape.parameters = {4, 1, 2};
  if (method == BoardMethod::large_tree) shape.parameters = {4};
  Calls calls(host, kRoom, *algorithm, shape);
  const std::size_t words = shape.bytes / sizeof(std::uint32_t);
  Counts counts;
  for (std::uint32_t call = 0; call < 24; ++call) {
    const Counts now = calls.call(kAdd, [&](Rank me, std::size_t i) { return value(me, i, call); });
    if (call > 12) {
      EXPECT_EQ(now.touched, counts.touched) << algorithm->name << ": calls differ";
      // Strips look in vain as often as it happens.
      if (method != BoardMethod::large_tree) {
        EXPECT_EQ(now, counts) << algorithm->name << ": calls differ";
      }
    }
    counts = now;
    std::size_t wrong = 0;
    for (Rank me = 0; me < host.ranks(); ++me) {
      for (std::size_t i = 0; i < words; ++i) {
        std::uint32_t sum = 0;
        for (Rank r = 0; r < host.ranks(); ++r) {
          sum += value(r, i, call);
          if (shape.operation == Operation::all_gather && calls.out(me)[r * words + i] != value(r, i, call))
            ++wrong;
        }
        if (shape.operation == Operation::all_reduce && calls.out(me)[i] != sum) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0u) << algorithm->name << ": elements of call " << call;
  }
  return counts;
}

// Requirement HF-16, of what is as short as a line.
TEST(BoardCounts, LinesOfShortAllReduces) {
  for (const Host& host : kHosts) {
    SCOPED_TRACE(name_of_host(host));
    const std::uint64_t p = host.ranks(), q = host.each, s = host.domains;
    for (const std::uint64_t bytes : {8u, 100u, 128u}) {
      const std::uint64_t lines = lines_of_payload(bytes);
      const Shape shape = shape_of(Operation::all_reduce, host, bytes);
      const Counts flat = counts_of(host, BoardMethod::flat, shape);
      EXPECT_EQ(flat.lines, lines * p * (p - 1)) << bytes;
      EXPECT_EQ(flat.across, lines * p * (p - q)) << bytes;
      const Counts tree = counts_of(host, BoardMethod::tree, shape);
      EXPECT_EQ(tree.lines, lines * 2 * (p - 1)) << bytes;
      EXPECT_EQ(tree.across, lines * 2 * (s - 1)) << bytes;
      if (!std::has_single_bit(p)) continue;
      const auto rounds_of = [](std::uint64_t n) {
        return static_cast<std::uint64_t>(std::bit_width(n)) - 1;
      };
      const Counts rounds = counts_of(host, BoardMethod::dissemination, shape);
      EXPECT_EQ(rounds.lines, lines * p * rounds_of(p)) << bytes;
      EXPECT_EQ(rounds.across, lines * p * rounds_of(s)) << bytes;
    }
  }
}

TEST(BoardCounts, LinesOfShortAllGathers) {
  for (const Host& host : kHosts) {
    SCOPED_TRACE(name_of_host(host));
    const std::uint64_t p = host.ranks();
    for (const auto& [bytes, lines] : {std::pair{4u, 1u}, {48u, 1u}, {52u, 2u}, {112u, 2u}, {128u, 3u}}) {
      const Counts flat = counts_of(host, BoardMethod::flat, shape_of(Operation::all_gather, host, bytes));
      EXPECT_EQ(flat.lines, lines * p * (p - 1)) << bytes;
      EXPECT_EQ(flat.across, lines * p * (p - host.each)) << bytes;
    }
  }
}

// Each pair of domains exchanges what fits into a line in two of them, whatever the number of members.
TEST(BoardCounts, LinesOfShortAllGathersByDomains) {
  for (const Host& host : kHosts) {
    SCOPED_TRACE(name_of_host(host));
    const std::uint64_t p = host.ranks(), q = host.each, s = host.domains;
    for (const std::uint64_t bytes : {4u, 8u, 12u, 16u, 28u}) {
      const Counts counts =
          counts_of(host, BoardMethod::domain_lines, shape_of(Operation::all_gather, host, bytes));
      EXPECT_EQ(counts.across, s * (s - 1) * lines_of_payload(q * bytes)) << bytes;
      EXPECT_EQ(counts.lines - counts.across,
                (p - s) * (lines_of_payload(bytes) + lines_of_payload(p * bytes)))
          << bytes;
    }
    const MemoryMachine machine{.inside = {}, .across = {}, .domains = host.domains, .members = host.each};
    const Counts line = counts_of(host, BoardMethod::domain_lines, shape_of(Operation::all_gather, host, 4));
    EXPECT_EQ(line.across, crossings(machine).packed_blocks);
  }
}

TEST(BoardCounts, AShortAllGatherAmongOneDomainIsFlat) {
  const Host host{1, 6};
  const Shape shape = shape_of(Operation::all_gather, host, 8);
  EXPECT_EQ(counts_of(host, BoardMethod::domain_lines, shape), counts_of(host, BoardMethod::flat, shape));
}

// Domains of different sizes, one member alone among them, and each mode.
TEST(BoardCounts, ShortAllGathersByDomainsAreRight) {
  for (const Host& host : {Host{2, 1}, Host{2, 2}, Host{3, 2}, Host{3, 5, true}, Host{5, 3}}) {
    SCOPED_TRACE(name_of_host(host));
    for (const std::uint64_t bytes : {0u, 4u, 8u, 40u, 64u}) {
      for (const Sync sync : {Sync::none, Sync::mine, Sync::all}) {
        Shape shape = shape_of(Operation::all_gather, host, bytes);
        shape.in = shape.out = sync;
        static_cast<void>(counts_of(host, BoardMethod::domain_lines, shape));
      }
    }
  }
}

// Requirement HF-17.
TEST(BoardCounts, BytesThatAllReducesTouch) {
  for (const Host& host : kHosts) {
    SCOPED_TRACE(name_of_host(host));
    const MemoryMachine machine{.inside = {}, .across = {}, .domains = host.domains, .members = host.each};
    const auto touched = [&](BoardMethod method, std::uint64_t bytes) {
      const Counts counts = counts_of(host, method, shape_of(Operation::all_reduce, host, bytes));
      EXPECT_EQ(counts.touched % bytes, 0u);
      return counts.touched / bytes;
    };
    constexpr std::uint64_t kInSlots = 1024;
    Shape shape = shape_of(Operation::all_reduce, host, kInSlots);
    shape.parameters = {4, 1, 2};
    const Calls by_tree(host, kRoom, *board_algorithm(Operation::all_reduce, BoardMethod::tree), shape);
    std::uint64_t parents = 0;
    for (Rank me = 0; me < host.ranks(); ++me) parents += by_tree.plan(me).children.empty() ? 0 : 1;
    const Touches expected = touches(machine, parents);
    EXPECT_EQ(touched(BoardMethod::tree, kInSlots), expected.copied_tree);
    if (std::has_single_bit(host.ranks())) {
      EXPECT_EQ(touched(BoardMethod::dissemination, kInSlots), expected.copied_rounds);
    }
    constexpr std::uint64_t kLong = 9 * 1024;
    EXPECT_EQ(touched(BoardMethod::large_tree, kLong), expected.tree_in_passes);
    EXPECT_EQ(touched(BoardMethod::tiles, kLong), expected.tiles);
    EXPECT_EQ(touched(BoardMethod::cyclic_tiles, kLong), expected.tiles);
    EXPECT_EQ(touched(BoardMethod::claims, kLong), expected.tiles);
    EXPECT_EQ(touched(BoardMethod::domain_tiles, kLong), expected.domain_tiles);
    EXPECT_EQ(touched(BoardMethod::stream, kLong), expected.copied_tiles);
  }
}

// Requirement H-25.
TEST(BoardCounts, CyclicTilesRefuseWhatNeedsTeamOrder) {
  for (const Operation operation : {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter}) {
    const Algorithm* const cyclic = board_algorithm(operation, BoardMethod::cyclic_tiles);
    ASSERT_NE(cyclic, nullptr);
    Shape shape = shape_of(operation, kHosts[0], 64 << 10);
    shape.commutative = true;
    EXPECT_EQ(cyclic->refusal(shape), nullptr);
    shape.order = Order::exact;
    EXPECT_NE(cyclic->refusal(shape), nullptr);
    shape.order = Order::any;
    shape.commutative = false;
    EXPECT_NE(cyclic->refusal(shape), nullptr);
  }
}

/// Of a schedule: a put copies once.
std::uint64_t touched_by(const Algorithm& algorithm, const Shape& shape) {
  std::uint64_t touched = 0;
  for (Rank me = 0; me < shape.ranks; ++me) {
    const Schedule schedule(algorithm, shape, me);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      for (std::uint32_t i = 0; i < schedule.length(lane); ++i) {
        const Step step = schedule.step(lane, i);
        const std::uint64_t bytes = step.bytes * step.runs;
        if (step.kind == Step::Kind::put || step.kind == Step::Kind::copy) touched += 2 * bytes;
        if (step.kind == Step::Kind::reduce) touched += 3 * bytes;
      }
    }
  }
  return touched;
}

// What arrives in scratch is combined there, but copied from there to outputs.
TEST(BoardCounts, BytesThatAllReducesByMessagesTouch) {
  for (const std::uint32_t ranks : {2u, 8u, 12u, 32u}) {
    const Host host{1, ranks};
    const MemoryMachine machine{.inside = {}, .across = {}, .domains = 1, .members = ranks};
    const Touches expected = touches(machine, 0, {.combined = 1, .kept = 2});
    Shape shape = shape_of(Operation::all_reduce, host, 4ull * 12 * 32);
    shape.in = shape.out = Sync::none;
    shape.parameters = {1};
    EXPECT_EQ(touched_by(kAllReduceRing, shape), expected.messages * shape.bytes) << ranks;
    if (!std::has_single_bit(ranks)) continue;
    shape.parameters = {2};
    EXPECT_EQ(touched_by(kAllReduceMultiplying, shape), expected.message_rounds * shape.bytes) << ranks;
  }
}

}  // namespace
}  // namespace aqueduct::coll::counted
