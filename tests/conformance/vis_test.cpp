#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/support/random_shape.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include <unistd.h>

namespace aqueduct::conformance {
namespace {

using test::AnyShape;
using test::RandomShapes;

constexpr std::array kPlans = {"auto", "direct", "pieces", "packed", "box", "native"};
constexpr std::size_t kSegment = 64 * 1024;

/// Runs every case once for each plan that can be forced.
class Vis : public FabricTest {
 protected:
  void with_each_plan(Rank ranks, std::size_t segment_bytes, const Body& body) {
    for (const char* plan : kPlans) {
      SCOPED_TRACE(plan);
      run({ranks, segment_bytes, {{"vis_plan", plan}}}, body);
    }
  }
};

std::size_t reach(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(bytes) + 1);
}

/// A rank's operation on the next rank in one round: two shapes with the same total.
struct Round {
  AnyShape there;
  AnyShape here;
  std::vector<std::int64_t> there_bytes;
  std::vector<std::int64_t> here_bytes;

  Round(std::uint64_t seed, std::uint64_t most, std::uint64_t unit = 1) {
    RandomShapes random(seed);
    do {
      there = random.below(2) == 0 ? random.any(most, unit)
                                   : random.of_sum(unit * random.below(most / unit), unit);
      there_bytes = there.bytes();
    } while (reach(there_bytes) > kSegment);
    here = random.of_sum(there_bytes.size(), unit);
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

TEST_P(Vis, PutsGoWhereTheNaiveLoopPutsThemAndNowhereElse) {
  with_each_plan(3, kSegment, [seed = seed(), rounds = often(28)](Endpoint& me) {
    std::uint64_t signals = 0;
    for (int round = 0; round < rounds; ++round) {
      const Round mine(seed_of(seed, me.rank(), round), 3000);
      auto memory = pattern(me.rank(), reach(mine.here_bytes));
      const Status status = put_pieces(round, me, at(next(me), mine.there), memory, mine.here);
      ASSERT_TRUE(status) << status.text() << "; " << mine.name() << ", round " << round;
      ASSERT_TRUE(me.barrier());
      const Round theirs(seed_of(seed, previous(me), round), 3000);
      const auto sent = pattern(previous(me), reach(theirs.here_bytes));
      std::vector<std::byte> expected(kSegment);
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

TEST_P(Vis, GetsBringWhatTheNaiveLoopReads) {
  with_each_plan(3, kSegment, [seed = seed(), rounds = often(30)](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), kSegment), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto there = pattern(next(me), kSegment);
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

TEST_P(Vis, ManyAtOnceOfManyPacketsAllArrive) {
  // Each rank takes a cube of doubles apart in three ways: rows, columns and single elements.
  with_each_plan(2, 1 << 20, [brief = fabric().brief](Endpoint& me) {
    const std::int64_t n = brief || reasonable(me, 24 * 24 * 24 * 8) < 24 * 24 * 24 * 8 ? 12 : 24;
    const std::int64_t cells = n * n * n;
    std::vector<double> cube(static_cast<std::size_t>(cells));
    std::iota(cube.begin(), cube.end(), 1000.0 * me.rank());
    std::vector<std::int64_t> scattered(static_cast<std::size_t>(cells));
    for (std::int64_t i = 0; i < cells; ++i) scattered[static_cast<std::size_t>(i)] = (i * 7919 % cells) * 8;
    const GlobalPtr<double> target{next(me), 0};
    const auto there = view(target, {n, n, n});
    const auto here = view(cube.data(), {n, n, n});
    EventSet events;
    for (std::int64_t k = 0; k < n; ++k) {
      const Slice all{0, n};
      const Slice one{k, k + 1};
      events.add(put_nb(me, section(there, {all, all, one}), section(here, {all, all, one})));
    }
    ASSERT_TRUE(events.wait_all(me));
    ASSERT_TRUE(me.barrier());
    const auto* mine = reinterpret_cast<const double*>(me.segment().data());
    for (std::int64_t i = 0; i < cells; ++i)
      ASSERT_EQ(mine[i], 1000.0 * previous(me) + static_cast<double>(i));
    ASSERT_TRUE(me.barrier());
    // Shuffling there and back restores the original order.
    const Indexed shuffled{scattered, 8};
    ASSERT_TRUE(put(me, pieces(target, shuffled), contiguous(cube.data(), cube.size())));
    std::vector<double> back(cube.size());
    ASSERT_TRUE(get(me, contiguous(back.data(), back.size()), pieces(target, shuffled)));
    ASSERT_EQ(back, cube);
    ASSERT_TRUE(get(me, pieces(back.data(), shuffled), contiguous(target, back.size())));
    for (std::int64_t i = 0; i < cells; ++i) {
      const std::int64_t there = scattered[static_cast<std::size_t>(i)] / 8;  // where element i is now
      const std::int64_t again = scattered[static_cast<std::size_t>(there)] / 8;
      ASSERT_EQ(back[static_cast<std::size_t>(again)], cube[static_cast<std::size_t>(i)]) << i;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Vis, ListsOfAddressesAndToItselfAndOverlappingSources) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    std::array<int, 4> a{1, 2, 3, 4};
    const std::array<const int*, 5> twice{&a[3], &a[1], &a[1], &a[0], &a[2]};
    const std::array<LocalConstPiece, 3> parts{{{&a[0], 8}, {&a[1], 0}, {&a[1], 12}}};
    for (const Rank to : {me.rank(), next(me)}) {
      const GlobalPtr<int> target{to, 100};
      ASSERT_TRUE(put(me, pieces(target, Strided(4, {{5, 16}})), pieces(std::span<const int* const>(twice))));
      std::array<int, 5> found{};
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), pieces(target, Strided(4, {{5, 16}}))));
      EXPECT_EQ(found, (std::array{4, 2, 2, 1, 3}));
      ASSERT_TRUE(put(me, contiguous(target, 5), pieces(std::span<const LocalConstPiece>(parts))));
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), contiguous(target, 5)));
      EXPECT_EQ(found, (std::array{1, 2, 2, 3, 4}));
      ASSERT_TRUE(get(me, contiguous(found.data(), 5), pieces(target, Strided(4, {{5, 0}}))))
          << "one element, five times";
      EXPECT_EQ(found, (std::array{1, 1, 1, 1, 1}));
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Vis, NothingIsLegal) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    std::array<int, 4> a{1, 2, 3, 4};
    ASSERT_TRUE(put(me, pieces(to, Vector{}), pieces(a.data(), Indexed{})));
    ASSERT_TRUE(get(me, pieces(a.data(), Strided(4, {{0, 4}, {10, 8}})), pieces(to, Strided(0, {{5, 4}}))));
    ASSERT_TRUE(put_signal(me, contiguous(to, 0), contiguous(a.data(), 0), {.slot = 1, .add = 5}));
    ASSERT_TRUE(wait_until(me, 1, 5));
    const Piece empty[] = {{4000, 0}, {0, 4}, {-5, 0}, {8, 4}, {1 << 20, 0}};
    ASSERT_TRUE(put(me, pieces(to, Vector{empty}), contiguous(a.data(), 2)));
    ASSERT_TRUE(me.barrier());
    int mine[3];
    std::memcpy(mine, me.segment().data(), sizeof mine);
    EXPECT_EQ(mine[0], 1);
    EXPECT_EQ(mine[1], 0);
    EXPECT_EQ(mine[2], 2);
  });
}

template <class T>
void accumulate_from_all(Endpoint& me) {
  constexpr std::int64_t kRows = 30;
  constexpr std::int64_t kColumns = 20;
  const GlobalPtr<T> base{0, 64};
  std::array<T, kRows * kColumns> mine;
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<T>(i + me.rank());
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  const Strided there(sizeof(T), {{kRows, 40 * kBytes}, {kColumns, 2 * kBytes}});
  const Strided here(sizeof(T), {{kRows, kColumns * kBytes}, {kColumns, kBytes}});
  for (int times = 0; times < 3; ++times) ASSERT_TRUE(accumulate_strided(me, base, there, mine.data(), here));
  ASSERT_TRUE(accumulate_strided_nbi(me, base, there, mine.data(), here));
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_TRUE(me.barrier());
  if (me.rank() == 0) {
    const auto ranks = static_cast<std::int64_t>(me.ranks());
    const auto* found = reinterpret_cast<const T*>(me.segment().data() + 64);
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < 40; ++j) {
        const std::int64_t sum = 4 * ((i * kColumns + j / 2) * ranks + ranks * (ranks - 1) / 2);
        ASSERT_EQ(found[i * 40 + j], j % 2 == 0 ? static_cast<T>(sum) : T{}) << i << ", " << j;
        if (i + 1 == kRows && j == 38) break;
      }
    }
    std::ranges::fill(me.segment(), std::byte{0});
  }
  ASSERT_TRUE(me.barrier());
}

TEST_P(Vis, AccumulateAddsFromAllRanks) {
  with_each_plan(3, kSegment, [](Endpoint& me) {
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<double>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<float>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<std::int32_t>(me));
    ASSERT_NO_FATAL_FAILURE(accumulate_from_all<std::uint64_t>(me));
  });
}

TEST_P(Vis, GroupsReadAndWriteElementsOfAllRanks) {
  with_each_plan(3, kSegment, [seed = seed()](Endpoint& me) {
    constexpr std::uint64_t kElements = 1000;
    auto* mine = reinterpret_cast<std::uint64_t*>(me.segment().data());
    for (std::uint64_t i = 0; i < kElements; ++i) mine[i] = me.rank() * 100'000 + i;
    ASSERT_TRUE(me.barrier());
    Random random(mix(seed + me.rank()));
    std::vector<GlobalPtr<std::uint64_t>> list;
    for (int i = 0; i < 2000; ++i) {
      list.emplace_back(static_cast<Rank>(random.below(me.ranks())), 8 * random.below(kElements));
    }
    std::vector<std::uint64_t> found(list.size());
    ASSERT_TRUE(get_group<std::uint64_t>(me, found, list));
    for (std::size_t i = 0; i < list.size(); ++i)
      ASSERT_EQ(found[i], list[i].rank() * 100'000 + list[i].offset() / 8);
    ASSERT_TRUE(me.barrier());
    // Each rank writes every ranks-th element of all ranks.
    list.clear();
    std::vector<std::uint64_t> values;
    for (std::uint64_t i = me.rank(); i < kElements; i += me.ranks()) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        list.emplace_back(to, 8 * i);
        values.push_back(to * 7 + i);
      }
    }
    ASSERT_TRUE(put_group<std::uint64_t>(me, list, values));
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kElements; ++i) ASSERT_EQ(mine[i], me.rank() * 7 + i);
    list.emplace_back(me.ranks(), 0);
    EXPECT_EQ(put_group<std::uint64_t>(me, list, values).code(), ErrorCode::invalid_argument);
  });
}

TEST_P(Vis, BadInputIsFoundBeforeAnythingMoves) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    std::array<int, 8> a{1, 2, 3, 4, 5, 6, 7, 8};
    const auto from = contiguous(a.data(), 8);
    const auto code = [&](const RemotePieces& there) { return put(me, there, from).code(); };
    using enum ErrorCode;
    EXPECT_EQ(code(contiguous(to, 7)), invalid_argument) << "sums differ";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, 600}}))), out_of_range) << "the last pieces are outside";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, -4}}))), out_of_range) << "below the segment";
    EXPECT_EQ(code(contiguous(GlobalPtr<int>{me.ranks(), 0}, 8)), out_of_range) << "no such rank";
    EXPECT_EQ(code(contiguous(GlobalPtr<int>{next(me), 0, 77}, 8)), out_of_range) << "no such segment";
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, INT64_MAX / 2}}))), invalid_argument) << "overflowing stride";
    EXPECT_EQ(code(section(view(to, {2, 4}), {{0, 2}, {0, 5}})), out_of_range) << "a slice too long";
    const std::int64_t outside[] = {0, 8, 4093};
    EXPECT_EQ(put(me, pieces(to, Indexed{outside, 4}), contiguous(a.data(), 3)).code(), out_of_range);
    EXPECT_EQ(get(me, contiguous(a.data(), 3), pieces(to, Indexed{outside, 4})).code(), out_of_range);
    const std::int64_t farthest[] = {0, 8, INT64_MIN};
    EXPECT_EQ(put(me, pieces(to, Indexed{farthest, 4}), contiguous(a.data(), 3)).code(), out_of_range)
        << "no memory is that large";
    const std::array<GlobalPtr<int>, 2> list{to, GlobalPtr<int>{next(me), detail::kOffsetNowhere}};
    EXPECT_EQ(get_group<int>(me, std::span(a).first(2), list).code(), out_of_range) << "an index too large";
    const auto before = a;
    constexpr std::size_t kWraps = std::size_t{1} << 62;  // times sizeof(int) is 2^64
    EXPECT_EQ(get(me, contiguous(a.data(), kWraps + 1), contiguous(to, kWraps + 1)).code(),
              ErrorCode::invalid_argument)
        << "elements that wrap around";
    EXPECT_EQ(a, before);
    EXPECT_EQ(put_signal(me, contiguous(to, 8), from, {.slot = 1 << 30}).code(), out_of_range)
        << "no such signal";
    const GlobalPtr<int> odd{next(me), 2};
    EXPECT_EQ(accumulate_strided(me, odd, Strided(4, {{8, 4}}), a.data(), Strided(4, {{8, 4}})).code(),
              misaligned);
    EXPECT_EQ(accumulate_strided(me, to, Strided(4, {{8, 6}}), a.data(), Strided(4, {{8, 4}})).code(),
              misaligned);
    EXPECT_EQ(accumulate_strided(me, to, Strided(2, {{8, 4}}), a.data(), Strided(4, {{4, 4}})).code(),
              invalid_argument);
#ifdef AQUEDUCT_CHECKED
    EXPECT_EQ(code(pieces(to, Strided(4, {{8, 2}}))), invalid_argument) << "targets overlap";
    EXPECT_EQ(get(me, pieces(a.data(), Strided(4, {{4, 0}})), contiguous(to, 4)).code(), invalid_argument);
#endif
    EXPECT_FALSE(me.wait(put_nb(me, contiguous(to, 7), from)));
    EXPECT_FALSE(put_nbi(me, contiguous(to, 7), from));
    ASSERT_TRUE(me.wait_implicit()) << "what was not begun is not in the group";
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(a, (std::array{1, 2, 3, 4, 5, 6, 7, 8}));
  });
}

TEST_P(Vis, PackedTakesNoMorePacketsThanTheDataFills) {
  run({2, kSegment, {{"vis_plan", "packed"}}}, [](Endpoint& me) {
    std::vector<double> sent(1000);
    std::iota(sent.begin(), sent.end(), me.rank());
    const GlobalPtr<double> to{next(me), 0};
    const Strided regular(8, {{1000, 24}});
    const auto packets = [&](std::size_t bytes) {
      return (bytes + am_limits(me, next(me)).medium - 1) / am_limits(me, next(me)).medium;
    };
    const auto before = me.statistics();
    ASSERT_TRUE(put(me, pieces(to, regular), contiguous(sent.data(), sent.size())));
    const auto put_done = me.statistics();
    ASSERT_EQ(put_done.vis_packed, before.vis_packed + 1);
    EXPECT_LE(put_done.vis_messages - before.vis_messages, packets(8000)) << "1,000 pieces of 8 bytes";
    std::vector<double> back(1000);
    ASSERT_TRUE(get(me, contiguous(back.data(), back.size()), pieces(to, regular)));
    EXPECT_LE(me.statistics().vis_messages - put_done.vis_messages, packets(8000));
    EXPECT_EQ(back, sent);
    EXPECT_GT(me.statistics().vis_as_strides, 0u);
    // A regular list is recognised as strides; others are sent as offsets, or as offsets and lengths.
    std::vector<std::int64_t> offsets(1000);
    for (std::int64_t i = 0; i < 1000; ++i) offsets[static_cast<std::size_t>(i)] = i * 24;
    const auto regular_done = me.statistics();
    ASSERT_TRUE(put(me, pieces(to, Indexed{offsets, 8}), contiguous(sent.data(), sent.size())));
    EXPECT_EQ(me.statistics().vis_as_offsets, regular_done.vis_as_offsets);
    offsets[500] += 8;
    ASSERT_TRUE(put(me, pieces(to, Indexed{offsets, 8}), contiguous(sent.data(), sent.size())));
    EXPECT_GT(me.statistics().vis_as_offsets, regular_done.vis_as_offsets);
    const Piece parts[] = {{0, 9}, {100, 23}};
    ASSERT_TRUE(put(me, pieces(to, Vector{parts}), contiguous(sent.data(), 4)));
    EXPECT_EQ(me.statistics().vis_as_pieces, regular_done.vis_as_pieces + 1);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Vis, ASignalTravelsInThePacketOfItsPut) {
  constexpr int kRounds = 20;
  for (const int count : {4, 5'000}) {  // one packet, and several
    run({2, kSegment, {{"vis_plan", "packed"}}}, [=](Endpoint& me) {
      std::vector<int> sent(static_cast<std::size_t>(count));
      const Strided there(4, {{static_cast<std::uint64_t>(count), 12}});
      const auto* const mine = reinterpret_cast<const int*>(me.segment().data());
      std::uint64_t packets = 0;
      for (int round = 1; round <= kRounds; ++round) {
        std::iota(sent.begin(), sent.end(), round);
        if (me.rank() == 0) {
          const auto before = me.statistics();
          const GlobalPtr<int> to{1, 0};
          ASSERT_TRUE(put_signal(me, pieces(to, there), contiguous(sent.data(), sent.size()), {.slot = 2}));
          EXPECT_EQ(me.statistics().vis_packed, before.vis_packed + 1);
          packets += me.statistics().packets_sent - before.packets_sent;
          ASSERT_TRUE(signal(me, 1, {.slot = 3}));
        } else {
          ASSERT_TRUE(wait_until(me, 2, static_cast<std::uint64_t>(round)));
          for (std::size_t i = 0; i < sent.size(); ++i) ASSERT_EQ(mine[3 * i], sent[i]);
          // What this rank sends for the barrier would be answered, and counted, while the other still waits.
          ASSERT_TRUE(wait_until(me, 3, static_cast<std::uint64_t>(round)));
        }
        ASSERT_TRUE(me.barrier());
      }
      if (count == 4) {
        EXPECT_LT(packets, kRounds * 3 / 2) << "a signal is no second packet";
      }
      EXPECT_EQ(signal_value(me, 2), me.rank() == 1 ? kRounds : 0u) << "each once";
    });
  }
}

TEST_P(Vis, OneStretchToAnotherIsOneOperation) {
  run({2, kSegment}, [](Endpoint& me) {
    const GlobalPtr<int> to{next(me), 0};
    if (me.local(to) != nullptr) return;
    const std::array<int, 4> sent{1, 2, 3, 4};
    const auto* const mine = reinterpret_cast<const int*>(me.segment().data());
    const auto put_and_see = [&](const RemotePieces& there, std::uint64_t round,
                                 std::array<int, 4> expected) {
      const auto before = me.statistics();
      ASSERT_TRUE(put_signal(me, there, contiguous(sent.data(), 4), {.slot = 2}));
      const auto after = me.statistics();
      if (expected == sent) {
        EXPECT_EQ(after.vis_pieces, before.vis_pieces + 1);
        EXPECT_EQ(after.vis_packed, before.vis_packed);
      }
      ASSERT_TRUE(wait_until(me, 2, round));
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), mine));
      ASSERT_TRUE(me.barrier());
    };
    const Piece rising[] = {{0, 8}, {8, 0}, {8, 8}};
    put_and_see(pieces(to, Strided(4, {{2, 8}, {2, 4}})), 1, sent);
    put_and_see(pieces(to, Vector{rising}), 2, sent);
    // The same length, but in another order.
    const Piece falling[] = {{8, 8}, {0, 8}};
    put_and_see(pieces(to, Vector{falling}), 3, {3, 4, 1, 2});
    put_and_see(pieces(to + 3, Strided(4, {{4, -4}})), 4, {4, 3, 2, 1});
    std::array<int, 4> back{};
    ASSERT_TRUE(get(me, contiguous(back.data(), 4), contiguous(to, 4)));
    EXPECT_EQ(back, (std::array{4, 3, 2, 1}));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Vis, NullHereIsRefusedUnlessThereAreNoBytes) {
  run({2, 4096, {{"log", "off"}}}, [](Endpoint& me) {
    std::byte* const nowhere = nullptr;
    auto* const at_16 = reinterpret_cast<std::byte*>(std::uintptr_t{16});
    std::array<std::byte, 16> memory{};
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()));
    const std::array<Piece, 2> one_null{{{address, 8}, {0, 8}}};
    const std::array<Piece, 3> one_empty{{{address, 8}, {0, 0}, {address + 8, 8}}};
    const std::array<std::int64_t, 2> addresses{address, 0};
    // Both ranks put to both, each to words of its own.
    const std::uint64_t at = 64 + 1024 * me.rank();
    for (Rank to = 0; to < 2; ++to) {
      SCOPED_TRACE(to);
      const auto there = pieces(GlobalPtr<std::byte>{to, at}, Strided(8, {{2, 32}}));
      for (const LocalPieces& here :
           {pieces(nowhere, Strided(8, {{2, 16}})), pieces(nowhere, Strided(16, {})),
            pieces(at_16, Strided(8, {{2, -16}})), pieces(nowhere, Vector{one_null}),
            pieces(nowhere, Indexed{addresses, 8})}) {
        const LocalConstPieces from(here);
        EXPECT_EQ(put(me, there, from).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(me.wait(put_nb(me, there, from)).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(get(me, here, there).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(get_nbi(me, here, there).code(), ErrorCode::invalid_argument);
        EXPECT_EQ(put_signal(me, there, from, {.slot = 0}).code(), ErrorCode::invalid_argument);
      }
      EXPECT_EQ(accumulate_strided(me, GlobalPtr<std::uint64_t>{to, 64}, Strided(8, {{2, 32}}),
                                   static_cast<const std::uint64_t*>(nullptr), Strided(8, {{2, 8}}))
                    .code(),
                ErrorCode::invalid_argument);
      EXPECT_TRUE(put(me, there, LocalConstPieces(pieces(nowhere, Vector{one_empty}))));
      const auto none = Strided(8, {{0, 32}});
      EXPECT_TRUE(get(me, pieces(nowhere, none), pieces(GlobalPtr<std::byte>{to, 0}, none)));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
    EXPECT_EQ(signal_value(me, 0), 0u);
  });
}

TEST_P(Vis, InAHandlerIsRefusedUnlessTheTargetIsMapped) {
  with_each_plan(2, 4096, [](Endpoint& me) {
    ErrorCode said = ErrorCode::ok;
    bool ran = false;
    const bool mapped = me.local(GlobalPtr<int>{next(me), 0}) != nullptr;
    const auto handler = on_short_request<std::uint32_t>(me, [&](auto&, const auto&) {
      const std::array<int, 4> a{};
      said =
          put(me, pieces(GlobalPtr<int>{next(me), 0}, Strided(4, {{4, 8}})), contiguous(a.data(), 4)).code();
      ran = true;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, me.rank(), *handler, 1u));
    ASSERT_TRUE(progress_until(me, [&] { return ran; }));
    EXPECT_TRUE(said == ErrorCode::in_handler || (mapped && said == ErrorCode::ok)) << static_cast<int>(said);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Vis, ALostPeerEndsTransfersUnderWay) {
  for (const char* plan : {"pieces", "packed", "box"}) {
    SCOPED_TRACE(plan);
    Launch launch{2, 1 << 20, {{"vis_plan", plan}}};
    launch.leaving = {1};
    if (!fabric().process_each()) GTEST_SKIP() << "a rank that dies takes its process along";
    run(launch, [](Endpoint& me) {
      ASSERT_TRUE(me.barrier());
      if (me.rank() ==
          // What it sends just before it dies may be lost with it, so the other must have left the barrier.
          1) {
        static_cast<void>(wait_until(me, 30, 1, kAnyRank, std::chrono::seconds(10)));
        ::_exit(0);
      }
      static_cast<void>(signal(me, 1, {30, 1}));  // the victim may die before it has answered
      std::vector<std::int64_t> here(1 << 15);
      const GlobalPtr<std::int64_t> there{1, 0};
      const auto remote = pieces(there, Strided(8, {{1 << 15, 24}}));
      const auto local = contiguous(here.data(), here.size());
      // Memory mapped here stays readable until the loss is noticed, which happens in a wait.
      if (me.local(there) != nullptr) {
        ASSERT_EQ(me.barrier().code(), ErrorCode::peer_lost);
      }
      Status status;
      ASSERT_TRUE(progress_until(me, [&] {
        status = get(me, local, remote);
        if (status) status = put(me, remote, local);
        return status.code() == ErrorCode::peer_lost;  // the network's own error may come before the loss
      })) << status.text();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Vis, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
