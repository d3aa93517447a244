// What a rank that polls may see of puts, gets, atomics and signals. The numbers are those of docs/memory-model.md.

#include "tests/conformance/attached.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <functional>

namespace aqueduct::conformance {
namespace {

class MemoryModel : public FabricTest {};

constexpr std::chrono::seconds kModelLimit{20};
constexpr std::size_t kModelWords = 64;
constexpr std::size_t kModelBytes = kModelWords * sizeof(std::uint64_t);
constexpr std::uint64_t kEven = 0x0102030405060708;
constexpr std::uint64_t kOdd = ~kEven;

/// The segments in which every case runs: the primary one, and memory that the ranks have attached.
std::array<GlobalPtr<std::byte>, 2> model_segments(Endpoint& me) {
  return {GlobalPtr<std::byte>{0, 0}, attach_memory(me, kModelWords)};
}

const char* name_of_segment(GlobalPtr<std::byte> place) {
  return place.segment() == 0 ? "the primary segment" : "attached memory";
}

/// My own word, as a program polls it: atomically, relaxed or with acquire.
template <class T>
T polled(Endpoint& me, GlobalPtr<std::byte> place, std::memory_order order = std::memory_order_relaxed) {
  auto* const word = reinterpret_cast<T*>(me.segment_of(place.segment()).data() + place.offset());
  return std::atomic_ref<T>(*word).load(order);
}
template <class T>
void overwrite(Endpoint& me, GlobalPtr<std::byte> place, T value) {
  auto* const word = reinterpret_cast<T*>(me.segment_of(place.segment()).data() + place.offset());
  std::atomic_ref<T>(*word).store(value, std::memory_order_relaxed);
}

/// Puts one word of T in each form, without an order among them, and waits.
template <class T>
void put_word_in_each_form(Endpoint& me, GlobalPtr<std::byte> place, std::uint64_t turn) {
  const std::array<T, 2> values{static_cast<T>(kEven), static_cast<T>(kOdd)};
  const T& value = values[turn % 2];
  const GlobalPtr<T> to = place.as<T>();
  const std::span<const T> one(&value, 1);
  std::array events{put_nb(me, to, one), put_value_nb(me, to, values[(turn + 1) % 2]),
                    put_signal_nb(me, to, one, {5, 1})};
  ASSERT_TRUE(put_nbi(me, to, one));
  ASSERT_TRUE(put_value_nbi(me, to, values[(turn + 1) % 2]));
  for (Event& event : events) ASSERT_TRUE(me.wait(event));
  ASSERT_TRUE(me.wait_implicit());
  if (turn % 2 == 0) {
    ASSERT_TRUE(put(me, to, one));
  } else {
    ASSERT_TRUE(put_value(me, to, value));
  }
}

template <class T>
void expect_whole(T seen, const char* where) {
  const auto even = static_cast<T>(kEven);
  const auto odd = static_cast<T>(kOdd);
  ASSERT_TRUE(seen == 0 || seen == even || seen == odd)
      << "a mixture of two words of " << sizeof(T) << " bytes in " << where << ": " << std::hex
      << std::uint64_t{seen};
}

// The words of each size lie at 0, 8, 16 and 24; the end is told in the word at 32.
TEST_P(MemoryModel, M1_APutOfAWordIsWhole) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 1) {
        for (std::uint64_t turn = 0; turn < 12; ++turn) {
          ASSERT_NO_FATAL_FAILURE(put_word_in_each_form<std::uint64_t>(me, base, turn));
          ASSERT_NO_FATAL_FAILURE(put_word_in_each_form<std::uint32_t>(me, base + 8, turn));
          ASSERT_NO_FATAL_FAILURE(put_word_in_each_form<std::uint16_t>(me, base + 16, turn));
          if (turn < 2) {
            ASSERT_NO_FATAL_FAILURE(put_word_in_each_form<std::uint8_t>(me, base + 24, turn));
          }
        }
        ASSERT_TRUE(put_value(me, (base + 32).as<std::uint64_t>(), 1));
      } else {
        const auto end = std::chrono::steady_clock::now() + kModelLimit;
        const char* const where = name_of_segment(base);
        for (unsigned looks = 0; polled<std::uint64_t>(me, base + 32) != 1; ++looks) {
          ASSERT_NO_FATAL_FAILURE(expect_whole(polled<std::uint64_t>(me, base), where));
          ASSERT_NO_FATAL_FAILURE(expect_whole(polled<std::uint32_t>(me, base + 8), where));
          ASSERT_NO_FATAL_FAILURE(expect_whole(polled<std::uint16_t>(me, base + 16), where));
          ASSERT_NO_FATAL_FAILURE(expect_whole(polled<std::uint8_t>(me, base + 24), where));
          if (looks % 16 != 0) continue;
          me.progress();
          ASSERT_LT(std::chrono::steady_clock::now(), end) << "the writer's puts do not end";
        }
      }
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(MemoryModel, M2_APutOfAWordWritesItOnce) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    constexpr std::uint64_t kMine = 77;
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      for (std::uint64_t turn = 0; turn < 20; ++turn) {
        const GlobalPtr<std::byte> word = base + static_cast<std::int64_t>(8 * (turn % 16));
        if (me.rank() == 0) overwrite<std::uint64_t>(me, word, 0);
        ASSERT_TRUE(me.barrier());
        if (me.rank() == 1) {
          ASSERT_TRUE(put_value(me, word.as<std::uint64_t>(), 1000 + turn));
        } else {
          ASSERT_TRUE(progress_until(
              me, [&] { return polled<std::uint64_t>(me, word) == 1000 + turn; }, kModelLimit));
          overwrite(me, word, kMine);
        }
        ASSERT_TRUE(me.barrier());
        if (me.rank() == 0) {
          ASSERT_EQ(polled<std::uint64_t>(me, word), kMine)
              << "turn " << turn << ": the put wrote again after it was seen, in " << name_of_segment(base);
        }
      }
    }
  });
}

template <class T>
void get_word_in_each_form(Endpoint& me, GlobalPtr<std::byte> place) {
  const char* const where = name_of_segment(place);
  const GlobalPtr<const T> from = place.as<const T>();
  std::array<T, 3> words{};
  Event event = get_nb(me, std::span(words).subspan(0, 1), from);
  ASSERT_TRUE(get_nbi(me, std::span(words).subspan(1, 1), from));
  ASSERT_TRUE(me.wait(event));
  ASSERT_TRUE(me.wait_implicit());
  ASSERT_TRUE(get(me, std::span(words).subspan(2, 1), from));
  for (const T word : words) ASSERT_NO_FATAL_FAILURE(expect_whole(word, where));
  const auto value = get_value(me, from);
  ASSERT_TRUE(value);
  ASSERT_NO_FATAL_FAILURE(expect_whole(*value, where));
}

TEST_P(MemoryModel, M3_AGetOfAWordIsWhole) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 1) {
        for (int turn = 0; turn < 12; ++turn) {
          ASSERT_NO_FATAL_FAILURE(get_word_in_each_form<std::uint64_t>(me, base));
          ASSERT_NO_FATAL_FAILURE(get_word_in_each_form<std::uint32_t>(me, base + 8));
          ASSERT_NO_FATAL_FAILURE(get_word_in_each_form<std::uint16_t>(me, base + 16));
          if (turn < 2) {
            ASSERT_NO_FATAL_FAILURE(get_word_in_each_form<std::uint8_t>(me, base + 24));
          }
        }
        ASSERT_TRUE(put_value(me, (base + 32).as<std::uint64_t>(), 1));
      } else {
        const auto end = std::chrono::steady_clock::now() + kModelLimit;
        for (unsigned turn = 0; polled<std::uint64_t>(me, base + 32) != 1; ++turn) {
          const std::uint64_t value = turn % 2 == 0 ? kEven : kOdd;
          overwrite(me, base, value);
          overwrite(me, base + 8, static_cast<std::uint32_t>(value));
          overwrite(me, base + 16, static_cast<std::uint16_t>(value));
          overwrite(me, base + 24, static_cast<std::uint8_t>(value));
          if (turn % 16 != 0) continue;
          me.progress();
          ASSERT_LT(std::chrono::steady_clock::now(), end) << "the reader's gets do not end";
        }
      }
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(MemoryModel, M1_CopyOfAWordArrives) {
  as_each_of(3, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      if (me.rank() == 1) overwrite(me, base, kEven);
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 0) {
        ASSERT_TRUE(copy(me, base.on(2) + 16, base.on(1).as<const std::byte>(), 8));
      }
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 2) {
        EXPECT_EQ(polled<std::uint64_t>(me, base + 16), kEven) << name_of_segment(base);
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

// The bytes of words that are not aligned, or not words, travel as before, and arrive.
TEST_P(MemoryModel, M4_WhatIsNoWordArrivesToo) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      for (const std::size_t at : {0, 1, 2, 4}) {
        for (std::size_t bytes = 1; bytes <= 9; ++bytes) {
          const auto mine = me.segment_of(base.segment()).subspan(at, bytes);
          if (me.rank() == 0) {
            const auto sent = pattern(100 * at + bytes, bytes);
            std::vector<std::byte> back(bytes);
            const auto there = base.on(1) + static_cast<std::int64_t>(at);
            ASSERT_TRUE(put(me, there, sent));
            ASSERT_TRUE(get(me, back, there));
            ASSERT_TRUE(holds(back, sent)) << bytes << " bytes at " << at << " in " << name_of_segment(base);
          }
          if (at == 4 && bytes % 4 == 0) {
            ASSERT_TRUE(me.barrier());
            if (me.rank() == 1) {
              ASSERT_TRUE(holds(mine, pattern(100 * at + bytes, bytes)));
            }
            ASSERT_TRUE(me.barrier());
          }
        }
      }
      ASSERT_TRUE(me.barrier());
    }
  });
}

// M-19: the poller loads beside the atomics.
TEST_P(MemoryModel, M5_M16_APollerSeesAtomicsWholeAndInOneOrder) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    constexpr std::uint64_t kStep = 0x0000'0001'0000'0001;  // both halves change
    constexpr std::uint64_t kTurns = 60;
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      ASSERT_TRUE(me.barrier());
      if (me.rank() == 1) {
        for (std::uint64_t i = 0; i < kTurns; ++i)
          ASSERT_TRUE(fetch_add(me, base.as<std::uint64_t>(), kStep));
      } else {
        std::uint64_t last = 0;
        const auto all = [&] {
          const auto seen = polled<std::uint64_t>(me, base);
          EXPECT_EQ(seen % kStep, 0u) << "a mixture, in " << name_of_segment(base);
          EXPECT_GE(seen, last) << "an old value after a newer one";
          last = seen;
          return seen == kTurns * kStep || HasFailure();
        };
        ASSERT_TRUE(progress_until(me, all, kModelLimit));
      }
      ASSERT_TRUE(me.barrier());
    }
  });
}

/// Rank 1 writes a block, then tells by a word; rank 0 polls the word and checks the block. `tell` writes the word and
/// waits; `told` is whether rank 0 sees it. All words but the first eight are the block.
void tell_after_block(Endpoint& me, GlobalPtr<std::byte> base,
                      const std::function<Status(GlobalPtr<std::uint64_t>, std::uint64_t)>& tell,
                      const std::function<bool(GlobalPtr<std::uint64_t>, std::uint64_t)>& told) {
  for (std::uint64_t turn = 1; turn <= 12; ++turn) {
    const std::size_t bytes = 8 + 37 * turn % (kModelBytes - 72);
    const auto block = base + 64;
    if (me.rank() == 1) {
      const auto sent = pattern(turn, bytes);
      ASSERT_TRUE(put(me, block, sent));
      ASSERT_TRUE(tell(base.as<std::uint64_t>(), turn));
    } else {
      ASSERT_TRUE(progress_until(
          me, [&] { return told(base.as<std::uint64_t>(), turn); }, kModelLimit))
          << "turn " << turn << " in " << name_of_segment(base);
      ASSERT_TRUE(holds(me.segment_of(base.segment()).subspan(64, bytes), pattern(turn, bytes)))
          << "seen before the put that was complete, in " << name_of_segment(base);
    }
    ASSERT_TRUE(me.barrier());
  }
}

// M-14: by an acquire load.
TEST_P(MemoryModel, M8_WhoSeesAWordSeesThePutsCompletedBefore) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      ASSERT_TRUE(me.barrier());
      ASSERT_NO_FATAL_FAILURE(tell_after_block(
          me, base, [&](auto word, std::uint64_t turn) { return put_value(me, word, turn); },
          [&](auto word, std::uint64_t turn) {
            const GlobalPtr<std::byte> place{word.rank(), word.offset(), word.segment()};
            return polled<std::uint64_t>(me, place, std::memory_order_acquire) == turn;
          }));
    }
  });
}

TEST_P(MemoryModel, M11_WhoSeesAnAtomicSeesThePutsCompletedBefore) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      ASSERT_TRUE(me.barrier());
      ASSERT_NO_FATAL_FAILURE(tell_after_block(
          me, base, [&](auto word, std::uint64_t) { return fetch_add(me, word, 1).status(); },
          [&](auto word, std::uint64_t turn) { return load(me, word).value_or(0) == turn; }));
    }
  });
}

TEST_P(MemoryModel, M10_WhoSeesASignalSeesItsBytesAndThePutsCompletedBefore) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      const std::uint64_t before = signal_value(me, 3);
      ASSERT_TRUE(me.barrier());
      ASSERT_NO_FATAL_FAILURE(tell_after_block(
          me, base,
          [&](auto word, std::uint64_t turn) {
            const std::array one{turn};
            return put_signal(me, word, one, {3, 1});
          },
          [&](auto word, std::uint64_t turn) {
            if (signal_value(me, 3) != before + turn) return false;
            const GlobalPtr<std::byte> place{word.rank(), word.offset(), word.segment()};
            EXPECT_EQ(polled<std::uint64_t>(me, place), turn) << "the signal overtook its word";
            return true;
          }));
    }
  });
}

TEST_P(MemoryModel, M12_CompletedPutsAndAtomicsOnOneWordSeeEachOther) {
  as_each_of(3, kModelBytes, [](Endpoint& me) {
    for (const GlobalPtr<std::byte> base : model_segments(me)) {
      const GlobalPtr<std::uint64_t> word = base.as<std::uint64_t>();
      for (std::uint64_t turn = 1; turn <= 5; ++turn) {
        if (me.rank() == 1) {
          ASSERT_TRUE(put_value(me, word, 100 * turn));
        }
        ASSERT_TRUE(me.barrier());
        ASSERT_TRUE(fetch_add(me, word, 1));
        ASSERT_TRUE(me.barrier());
        const std::uint64_t sum = 100 * turn + me.ranks();
        const auto got = get_value(me, word);
        ASSERT_TRUE(got);
        EXPECT_EQ(*got, sum) << "by get_value, in " << name_of_segment(base);
        const auto loaded = load(me, word);
        ASSERT_TRUE(loaded);
        EXPECT_EQ(*loaded, sum) << "by load";
        if (me.rank() == 0) {
          EXPECT_EQ(polled<std::uint64_t>(me, base), sum) << "by a plain load";
        }
        ASSERT_TRUE(me.barrier());
      }
    }
  });
}

TEST_P(MemoryModel, AWordOutsideTheSegmentIsRefusedInEachForm) {
  as_each_of(2, 64, [](Endpoint& me) {
    const std::uint64_t value = 7;
    const std::span one(&value, 1);
    std::uint64_t back = 5;
    for (const std::uint64_t at : {std::uint64_t{64}, std::uint64_t{60}, ~std::uint64_t{7}}) {
      const GlobalPtr<std::uint64_t> there{next(me), at};
      EXPECT_EQ(put(me, there, one).code(), ErrorCode::out_of_range);
      EXPECT_EQ(me.wait(put_nb(me, there, one)).code(), ErrorCode::out_of_range);
      EXPECT_EQ(put_nbi(me, there, one).code(), ErrorCode::out_of_range);
      EXPECT_EQ(get(me, std::span(&back, 1), there).code(), ErrorCode::out_of_range);
      EXPECT_EQ(me.wait(get_nb(me, std::span(&back, 1), there)).code(), ErrorCode::out_of_range);
    }
    EXPECT_EQ(back, 5u);
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

/// Words take the same errors in each of their ways: rank 2 dies, and words to it fail with peer_lost.
TEST_P(MemoryModel, AWordOfALostPeerFailsInEachForm) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = kModelBytes, .leaving = {2}}, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> there{2, 0};
    const std::uint64_t value = 7;
    const std::span one(&value, 1);
    if (me.rank() != 2) {
      ASSERT_TRUE(put_value(me, there + me.rank(), 1));
      ASSERT_TRUE(get_value(me, there + me.rank()));
    }
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 2) {
      ASSERT_TRUE(wait_until(me, 30, 2, kAnyRank, kModelLimit));
      std::raise(SIGKILL);
    }
    static_cast<void>(signal(me, 2, {30, 1}));  // it may die before it has answered
    ASSERT_EQ(wait_until(me, 0, 1, 2, kModelLimit).code(), ErrorCode::peer_lost);
    std::uint64_t back = 5;
    EXPECT_EQ(put(me, there, one).code(), ErrorCode::peer_lost);
    EXPECT_EQ(put_value(me, there, 3).code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.wait(put_nb(me, there, one)).code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.wait(put_signal_nb(me, there, one, {1, 1})).code(), ErrorCode::peer_lost);
    EXPECT_EQ(get_value(me, there).status().code(), ErrorCode::peer_lost);
    EXPECT_EQ(get(me, std::span(&back, 1), there).code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.wait(get_nb(me, std::span(&back, 1), there)).code(), ErrorCode::peer_lost);
    const Status begun = put_nbi(me, there, one);
    const Status ended = me.wait_implicit();
    EXPECT_EQ((begun ? ended : begun).code(), ErrorCode::peer_lost);
    const Rank other = 1 - me.rank();
    EXPECT_TRUE(put_value(me, there.on(other), 9)) << "the survivors' words go on";
    // Neither leaves before the other's word is there.
    EXPECT_TRUE(signal(me, other, {31, 1}));
    EXPECT_TRUE(wait_until(me, 31, 1, other, kModelLimit));
    EXPECT_EQ(back, 5u);
  });
}

/// A handler must not wait, so a word that needs the network is refused there, and nothing has happened.
TEST_P(MemoryModel, AWordThatNeedsTheNetworkIsRefusedInAHandler) {
  as_each_of(2, kModelBytes, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> there{next(me), 8};
    const bool mapped = me.local(there) != nullptr;
    bool asked = false;
    Status put_there;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      put_there = put_value(me, there, 3);
      asked = true;
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(progress_until(
        me, [&] { return asked; }, kModelLimit));
    EXPECT_EQ(put_there.code(), mapped ? ErrorCode::ok : ErrorCode::in_handler);
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(polled<std::uint64_t>(me, GlobalPtr<std::byte>{me.rank(), 8}), mapped ? 3u : 0u);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, MemoryModel, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
