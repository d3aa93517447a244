#include "tests/conformance/pattern.hpp"
#include "tests/conformance/vis_test.hpp"
#include "tests/support/random_shape.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

using test::AnyShape;
using test::RandomShapes;

/// Random shapes beside a loop over their bytes.
class VisRandom : public VisTest {};

std::size_t reach(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(bytes) + 1);
}

/// A rank's operation on the next rank in one round: two shapes with the same total.
struct Round {
  AnyShape there;
  AnyShape here;
  std::vector<std::int64_t> there_bytes;
  std::vector<std::int64_t> here_bytes;

  Round(std::uint64_t seed, std::uint64_t most) {
    RandomShapes random(seed);
    do {
      there = random.below(2) == 0 ? random.any(most) : random.of_sum(random.below(most));
      there_bytes = there.bytes();
    } while (reach(there_bytes) > kVisSegment);
    here = random.of_sum(there_bytes.size());
    here_bytes = here.bytes();
  }
  std::string name() const { return there.name + " there, " + here.name + " here"; }
};

std::uint64_t seed_of(std::uint64_t seed, Rank writer, int round) {
  return mix(seed + 1000 * static_cast<std::uint64_t>(writer) + static_cast<std::uint64_t>(round));
}

RemotePieces at(Rank rank, const AnyShape& shape) { return {GlobalPtr<std::byte>{rank, 0}, shape.shape}; }

Status put_pieces(int form, Endpoint& me, const RemotePieces& to, std::span<std::byte> memory,
                  const AnyShape& here) {
  const LocalConstPieces from(memory.data(), here.shape);
  const auto spoil = [&] { std::ranges::fill(memory, std::byte{0xee}); };
  switch (form % 7) {
    case 0: return put(me, to, from);
    case 1: return me.wait(put_nb(me, to, from));
    case 2: {
      if (const Status begun = put_nbi(me, to, from); !begun) return begun;
      return me.wait_implicit();
    }
    case 3: {
      if (const Status open = me.begin_region(); !open) return open;
      const Status begun = put_nbi(me, to, from);
      const Status done = me.wait(me.end_region());
      return begun ? done : begun;
    }
    case 4: {
      Event event = put_nb(me, to, from, {.source = SourceReuse::at_return});
      spoil();
      return me.wait(event);
    }
    case 5: {
      Event source;
      Event event = put_nb(me, to, from, {.source = SourceReuse::on_event, .source_event = &source});
      if (const Status free = me.wait(source); !free) return free;
      spoil();
      return me.wait(event);
    }
    default: return put_signal(me, to, from, {.slot = 3, .add = 1});
  }
}

TEST_P(VisRandom, PutsGoWhereTheNaiveLoopPutsThemAndNowhereElse) {
  with_each_plan(3, kVisSegment, [seed = seed(), rounds = often(28)](Endpoint& me) {
    std::uint64_t signals = 0;
    for (int round = 0; round < rounds; ++round) {
      const Round mine(seed_of(seed, me.rank(), round), 3000);
      auto memory = pattern(me.rank(), reach(mine.here_bytes));
      const Status status = put_pieces(round, me, at(next(me), mine.there), memory, mine.here);
      ASSERT_TRUE(status) << status.text() << "; " << mine.name() << ", round " << round;
      ASSERT_TRUE(me.barrier());
      const Round theirs(seed_of(seed, previous(me), round), 3000);
      const auto sent = pattern(previous(me), reach(theirs.here_bytes));
      std::vector<std::byte> expected(kVisSegment);
      for (std::size_t i = 0; i < theirs.here_bytes.size(); ++i) {
        expected[static_cast<std::size_t>(theirs.there_bytes[i])] =
            sent[static_cast<std::size_t>(theirs.here_bytes[i])];
      }
      ASSERT_TRUE(holds(me.segment(), expected)) << theirs.name() << ", round " << round << ", seed " << seed;
      if (round % 7 == 6) {
        ASSERT_TRUE(wait_until(me, 3, ++signals));
      }
      std::ranges::fill(me.segment(), std::byte{0});
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(VisRandom, GetsBringWhatTheNaiveLoopReads) {
  with_each_plan(3, kVisSegment, [seed = seed(), rounds = often(30)](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), kVisSegment), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto there = pattern(next(me), kVisSegment);
    for (int round = 0; round < rounds; ++round) {
      const Round mine(seed_of(seed, me.rank(), round), 3000);
      std::vector<std::byte> memory(reach(mine.here_bytes) + 16);
      auto expected = memory;
      for (std::size_t i = 0; i < mine.here_bytes.size(); ++i) {
        expected[static_cast<std::size_t>(mine.here_bytes[i])] =
            there[static_cast<std::size_t>(mine.there_bytes[i])];
      }
      const LocalPieces to(memory.data(), mine.here.shape);
      const RemotePieces from = at(next(me), mine.there);
      const RemoteConstPieces only_read = from;
      const bool at_const = round % 2 == 1;
      Status status;
      if (round % 3 == 0) status = at_const ? get(me, to, only_read) : get(me, to, from);
      if (round % 3 == 1) status = me.wait(at_const ? get_nb(me, to, only_read) : get_nb(me, to, from));
      if (round % 3 == 2) {
        status = at_const ? get_nbi(me, to, only_read) : get_nbi(me, to, from);
        const Status done = me.wait_implicit();
        if (status) status = done;
      }
      ASSERT_TRUE(status) << status.text() << "; " << mine.name();
      ASSERT_TRUE(holds(memory, expected)) << mine.name() << ", round " << round << ", seed " << seed;
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(Every, VisRandom, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
