#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace aqueduct::conformance {
namespace {

class Atomics : public FabricTest {};

/// The value after the operation: the model.
template <class T>
T after(AtomicOp op, T old, T x) {
  if constexpr (AtomicInteger<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    if (op == AtomicOp::add) return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(x));
    if (op == AtomicOp::bit_and) return old & x;
    if (op == AtomicOp::bit_or) return old | x;
    if (op == AtomicOp::bit_xor) return old ^ x;
    if (op == AtomicOp::min) return std::min(old, x);
    if (op == AtomicOp::max) return std::max(old, x);
  } else {
    if (op == AtomicOp::add) return old + x;
  }
  return op == AtomicOp::load ? old : x;  // store, swap
}

template <class T>
T some(Random& random) {
  // Small integers, so that sums are exact.
  if constexpr (AtomicFloat<T>) return static_cast<T>(random.below(1000)) - T{500};
  return static_cast<T>(random());
}

/// Runs one operation in each of its forms on one cell, and compares with the model. No other rank accesses the cell.
template <AtomicOp Op, class T>
void every_form(Endpoint& me, GlobalPtr<T> cell, Random& random) {
  T expected = some<T>(random);
  ASSERT_TRUE(store(me, cell, expected));
  for (int i = 0; i < 5; ++i) {
    const T x = i == 3 ? expected : some<T>(random);
    const auto fetched = atomic_fetch<Op>(me, cell, x);
    ASSERT_TRUE(fetched) << fetched.status().text();
    if (Op != AtomicOp::store) {
      ASSERT_EQ(*fetched, expected);
    }
    expected = after(Op, expected, x);

    const T y = some<T>(random);
    ASSERT_TRUE(atomic<Op>(me, cell, y));
    expected = after(Op, expected, y);

    T old{};
    const T z = some<T>(random);
    ASSERT_TRUE(me.wait(atomic_nb<Op>(me, cell, z, &old)));
    if (Op != AtomicOp::store) {
      ASSERT_EQ(old, expected);
    }
    expected = after(Op, expected, z);

    const T w = some<T>(random);
    ASSERT_TRUE(me.wait(atomic_nb<Op>(me, cell, w)));
    expected = after(Op, expected, w);

    const T v = some<T>(random);
    ASSERT_TRUE(atomic_nbi<Op>(me, cell, v, &old));
    ASSERT_TRUE(me.wait_implicit());
    if (Op != AtomicOp::store) {
      ASSERT_EQ(old, expected);
    }
    expected = after(Op, expected, v);

    const auto now = load(me, cell);
    ASSERT_TRUE(now);
    ASSERT_EQ(*now, expected);
  }
}

template <class T>
void every_operation(Endpoint& me, GlobalPtr<T> cell, Random& random) {
  ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::load>(me, cell, random))) << "load";
  ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::store>(me, cell, random))) << "store";
  ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::add>(me, cell, random))) << "add";
  ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::swap>(me, cell, random))) << "swap";
  if constexpr (AtomicInteger<T>) {
    ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::bit_and>(me, cell, random))) << "bit_and";
    ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::bit_or>(me, cell, random))) << "bit_or";
    ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::bit_xor>(me, cell, random))) << "bit_xor";
    ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::min>(me, cell, random))) << "min";
    ASSERT_NO_FATAL_FAILURE((every_form<AtomicOp::max>(me, cell, random))) << "max";
    const T held = some<T>(random);
    ASSERT_TRUE(store(me, cell, held));
    const auto missed = compare_swap(me, cell, static_cast<T>(held + 1), T{5});
    ASSERT_TRUE(missed);
    ASSERT_EQ(*missed, held);
    T old{};
    ASSERT_TRUE(me.wait(compare_swap_nb(me, cell, held, T{6}, &old)));
    ASSERT_EQ(old, held);
    const auto now = load(me, cell);
    ASSERT_TRUE(now);
    ASSERT_EQ(*now, T{6});
  }
}

/// Runs every operation on a cell of each rank; the cells beside it must not change.
template <class T>
void everywhere(Endpoint& me, Random& random) {
  for (Rank to = 0; to < me.ranks(); ++to) {
    const GlobalPtr<T> cell{to, 64 * me.rank() + 8};
    ASSERT_NO_FATAL_FAILURE(every_operation(me, cell, random)) << "on rank " << to;
    for (const GlobalPtr<T> beside : {cell - 1, cell + 1}) {
      const auto value = load(me, beside);
      ASSERT_TRUE(value);
      ASSERT_EQ(*value, T{0});
    }
    ASSERT_TRUE(store(me, cell, T{0}));
  }
}

TEST_P(Atomics, EveryOperationOnEveryTypeFollowsTheModel) {
  as_each_of(3, 256, [seed = seed()](Endpoint& me) {
    Random random(seed + me.rank());
    ASSERT_NO_FATAL_FAILURE(everywhere<std::int32_t>(me, random)) << "i32";
    ASSERT_NO_FATAL_FAILURE(everywhere<std::uint32_t>(me, random)) << "u32";
    ASSERT_NO_FATAL_FAILURE(everywhere<std::int64_t>(me, random)) << "i64";
    ASSERT_NO_FATAL_FAILURE(everywhere<std::uint64_t>(me, random)) << "u64";
    ASSERT_NO_FATAL_FAILURE(everywhere<float>(me, random)) << "f32";
    ASSERT_NO_FATAL_FAILURE(everywhere<double>(me, random)) << "f64";
    ASSERT_TRUE(me.barrier());
  });
}

template <class T>
void hammer(Endpoint& me, GlobalPtr<T> sum, GlobalPtr<T> extreme, T turns) {
  for (T i = 0; i < turns; ++i) {
    ASSERT_TRUE(atomic_nbi<AtomicOp::add>(me, sum, T{3}));
    if constexpr (AtomicInteger<T>) {
      const T mine = static_cast<T>(i * static_cast<T>(me.ranks()) + static_cast<T>(me.rank()));
      ASSERT_TRUE(atomic_nbi<AtomicOp::max>(me, extreme, mine));
    }
  }
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_TRUE(me.barrier());
  const auto total = load(me, sum);
  ASSERT_TRUE(total);
  EXPECT_EQ(*total, T{3} * turns * static_cast<T>(me.ranks()));
  if constexpr (AtomicInteger<T>) {
    const auto largest = load(me, extreme);
    ASSERT_TRUE(largest);
    EXPECT_EQ(*largest, turns * static_cast<T>(me.ranks()) - 1);
  }
}

// M-17.
TEST_P(Atomics, OfAllRanksOnOneCellLoseNothing) {
  as_each_of(4, 256, [](Endpoint& me) {
    const GlobalPtr<std::byte> there{0, 0};
    ASSERT_NO_FATAL_FAILURE(
        hammer<std::int32_t>(me, there.as<std::int32_t>(), there.as<std::int32_t>(4), 500));
    ASSERT_NO_FATAL_FAILURE(
        hammer<std::uint32_t>(me, there.as<std::uint32_t>(8), there.as<std::uint32_t>(12), 500));
    ASSERT_NO_FATAL_FAILURE(
        hammer<std::int64_t>(me, there.as<std::int64_t>(16), there.as<std::int64_t>(24), 500));
    ASSERT_NO_FATAL_FAILURE(
        hammer<std::uint64_t>(me, there.as<std::uint64_t>(32), there.as<std::uint64_t>(40), 500));
    ASSERT_NO_FATAL_FAILURE(hammer<float>(me, there.as<float>(48), {}, 500));
    ASSERT_NO_FATAL_FAILURE(hammer<double>(me, there.as<double>(56), {}, 500));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Atomics, FetchAddGivesEveryNumberToOneRankOnly) {
  as_each_of(4, 4 * 4000 + 8, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> counter{1, 0};
    const std::uint64_t all = 400 * me.ranks();
    for (;;) {
      const auto ticket = fetch_add(me, counter, 1);
      ASSERT_TRUE(ticket);
      if (*ticket >= all) break;
      // Counts on rank 0 how often each ticket is drawn.
      ASSERT_TRUE(atomic<AtomicOp::add>(me, GlobalPtr<std::uint32_t>{0, 8 + 4 * *ticket}, 1));
    }
    ASSERT_TRUE(me.barrier());
    std::vector<std::uint32_t> drawn(all);
    ASSERT_TRUE(get(me, drawn, GlobalPtr<std::uint32_t>{0, 8}));
    for (std::uint64_t i = 0; i < all; ++i) ASSERT_EQ(drawn[i], 1u) << "ticket " << i;
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Atomics, CompareSwapMakesALock) {
  as_each_of(3, 64, [](Endpoint& me) {
    const GlobalPtr<std::uint32_t> lock{0, 0};
    const GlobalPtr<std::uint64_t> guarded{2, 8};
    constexpr int kTurns = 60;
    for (int i = 0; i < kTurns; ++i) {
      for (;;) {
        const auto held_by = compare_swap(me, lock, 0, me.rank() + 1);
        ASSERT_TRUE(held_by);
        if (*held_by == 0) break;
        me.progress();
      }
      const auto value = get_value(me, guarded);  // plain put and get: the lock orders them
      ASSERT_TRUE(value);
      ASSERT_TRUE(put_value(me, guarded, *value + 1));
      const auto released = swap(me, lock, 0);
      ASSERT_TRUE(released);
      ASSERT_EQ(*released, me.rank() + 1);
    }
    ASSERT_TRUE(me.barrier());
    const auto value = get_value(me, guarded);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, std::uint64_t{kTurns} * me.ranks());
    ASSERT_TRUE(me.barrier());
  });
}

// The owner's address decides whether an atomic is aligned, for the owner and for all others.
TEST_P(Atomics, OnAttachedMemoryAreAlignedAsItsOwnersAddressIs) {
  struct alignas(16) Memory {
    std::array<std::byte, 80> bytes{};
  };
  // Outlives the job, because it is made before.
  const auto memories = std::make_shared<std::vector<Memory>>(2);
  as_each_of(2, 64, [memories](Endpoint& me) {
    auto& memory = (*memories)[me.rank()].bytes;
    const auto phase_of = [](Rank rank, std::uint64_t odd) { return odd + 4 * rank; };  // 1 and 5, or 4 and 8
    for (const std::uint64_t odd : {std::uint64_t{1}, std::uint64_t{4}}) {
      memory.fill(std::byte{0});
      const auto segment = Segment::attach(me, std::span(memory).subspan(phase_of(me.rank(), odd), 64));
      ASSERT_TRUE(segment) << segment.status().text();
      for (const Rank to : {me.rank(), next(me)}) {
        for (std::uint64_t offset = 0; offset <= 16; ++offset) {
          const std::uint64_t at = phase_of(to, odd) + offset;
          const auto wide = fetch_add(me, GlobalPtr<std::uint64_t>{to, offset, segment->id()}, 1).status();
          EXPECT_EQ(wide.code(), at % 8 == 0 ? ErrorCode::ok : ErrorCode::misaligned) << to << ' ' << offset;
          const auto narrow =
              fetch_add(me, GlobalPtr<std::uint32_t>{to, offset + 32, segment->id()}, 1).status();
          EXPECT_EQ(narrow.code(), at % 4 == 0 ? ErrorCode::ok : ErrorCode::misaligned)
              << to << ' ' << offset;
        }
      }
      ASSERT_TRUE(me.barrier());
      // Two or three of 17 consecutive offsets fit a wide word, and both ranks have added to each of them.
      std::uint64_t wide = 0;
      std::uint64_t narrow = 0;
      const std::uint64_t phase = phase_of(me.rank(), odd);
      for (std::uint64_t at = phase; at <= phase + 16; ++at) {
        std::uint64_t word = 0;
        std::uint32_t half = 0;
        if (at % 8 == 0) std::memcpy(&word, &memory[at], sizeof word);
        if (at % 4 == 0) std::memcpy(&half, &memory[at + 32], sizeof half);
        EXPECT_EQ(word, at % 8 == 0 ? 2u : 0u) << at;
        EXPECT_EQ(half, at % 4 == 0 ? 2u : 0u) << at;
        wide += word;
        narrow += half;
      }
      EXPECT_GE(wide, 4u);
      EXPECT_GE(narrow, 8u);
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Atomics, MisalignedOrOutsideAreRefusedAndChangeNothing) {
  as_each_of(2, 64, [](Endpoint& me) {
    for (const Rank to : {me.rank(), next(me)}) {
      for (std::uint64_t offset = 1; offset < 8; ++offset) {
        const GlobalPtr<std::uint64_t> place{to, offset};
        EXPECT_EQ(fetch_add(me, place, 1).status().code(), ErrorCode::misaligned) << offset;
        EXPECT_EQ(me.wait(atomic_nb<AtomicOp::add>(me, place, 1)).code(), ErrorCode::misaligned);
        EXPECT_EQ(atomic_nbi<AtomicOp::add>(me, place, 1).code(), ErrorCode::misaligned);
      }
      EXPECT_EQ(fetch_add(me, GlobalPtr<std::int32_t>{to, 2}, 1).status().code(), ErrorCode::misaligned);
      EXPECT_TRUE(fetch_add(me, GlobalPtr<std::int32_t>{to, 4}, 0));
      EXPECT_EQ(fetch_add(me, GlobalPtr<std::uint64_t>{to, 64}, 1).status().code(), ErrorCode::out_of_range);
      EXPECT_EQ(fetch_add(me, GlobalPtr<std::uint64_t>{to, 0, 3}, 1).status().code(),
                ErrorCode::out_of_range);
    }
    EXPECT_EQ(swap(me, GlobalPtr<double>{me.ranks(), 0}, 1.0).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(store(me, GlobalPtr<float>{kNoRank, 0}, 1.0f).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

TEST_P(Atomics, RefusedImmediatelyHaveNotHappened) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"operations", "16"}}}, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> cell{next(me), 0};
    std::vector<Event> events;
    std::uint64_t accepted = 0;
    for (int i = 0; i < 3000; ++i) {
      Event event = atomic_nb<AtomicOp::add>(me, cell, 1, nullptr, {.immediate = true});
      if (event.done() && !event.status().ok()) {
        ASSERT_EQ(event.status().code(), ErrorCode::refused);
        me.progress();
        continue;
      }
      ++accepted;
      events.push_back(std::move(event));
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    const auto total = load(me, cell);
    ASSERT_TRUE(total);
    EXPECT_EQ(*total, accepted);
    ASSERT_TRUE(me.barrier());
  });
}

/// Attaches a segment of the ranks' own memory, 64 words on each. The memory stays:
/// others may still use it when a body ends.
GlobalPtr<std::uint64_t> attach_words(Endpoint& me) {
  static std::deque<std::array<std::uint64_t, 64>> all;  // ranks may be threads of one process
  static std::mutex mutex;
  std::array<std::uint64_t, 64>* words = nullptr;
  {
    const std::lock_guard lock(mutex);
    words = &all.emplace_back();
  }
  const auto segment = Segment::attach(me, std::as_writable_bytes(std::span(*words)));
  EXPECT_TRUE(segment) << segment.status().text();
  return {0, 0, segment ? segment->id() : 0};
}

/// Looks at the word until all other ranks have added to it. `way` selects
/// one of the ways to look that make progress.
void wait_by_looking(Endpoint& me, GlobalPtr<std::uint64_t> word, int way) {
  const auto look = [&]() -> std::uint64_t {
    std::uint64_t value = 0;
    switch (way) {
      case 0: return *load(me, word);
      case 1: return *get_value(me, word);
      case 2: EXPECT_TRUE(get(me, std::span(&value, 1), word)); return value;
      default: return *compare_swap(me, word, 1000, 1001);
    }
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (look() != me.ranks() - 1) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "others' atomics wait while rank 0 looks at its word in way " << way;
      return;
    }
  }
}

TEST_P(Atomics, OfOthersEndWhileTheOwnerOnlyLooksAtItsWord) {
  as_each_of(3, 1024, [](Endpoint& me) {
    const auto attached = attach_words(me);
    ASSERT_TRUE(me.barrier());
    for (const auto base : {GlobalPtr<std::uint64_t>{0, 0}, attached}) {
      for (int way = 0; way < (base == attached ? 1 : 4); ++way) {
        const auto word = base + way;
        if (me.rank() == 0) {
          wait_by_looking(me, word, way);
        } else {
          ASSERT_TRUE(fetch_add(me, word, 1));
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Atomics, OfOthersEndWhileTheOwnerComputes) {
  if (!fabric().serves_aside) return;  // others' atomics need calls of the owner
  as_each_of(3, 1024, [](Endpoint& me) {
    const auto attached = attach_words(me);
    ASSERT_TRUE(me.barrier());
    std::uint64_t* const words[] = {
        reinterpret_cast<std::uint64_t*>(me.segment().data()),
        reinterpret_cast<std::uint64_t*>(me.segment_of(attached.segment()).data())};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto base = i == 0 ? GlobalPtr<std::uint64_t>{0, 0} : attached;
      constexpr std::uint64_t kTurns = 20;
      if (me.rank() != 0) {
        for (std::uint64_t turn = 0; turn < kTurns; ++turn) ASSERT_TRUE(fetch_add(me, base, 1));
        // Added last, so each rank's earlier atomics have been answered.
        ASSERT_TRUE(fetch_add(me, base + 1, 1));
        continue;
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      const auto is = [&](std::size_t word, std::uint64_t value) {
        return std::atomic_ref(words[i][word]).load() == value;
      };
      while (!is(1, me.ranks() - 1) && std::chrono::steady_clock::now() < end) {
      }
      EXPECT_TRUE(is(1, me.ranks() - 1)) << (i == 0 ? "in the primary segment" : "in attached memory");
      EXPECT_TRUE(is(0, kTurns * (me.ranks() - 1)));
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Atomics, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
