#include "core/apply_atomic.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace aqueduct::conformance {
namespace {

/// A small number as a value of the type, in its bits. For floats 7 is a NaN, and 0 may be negative.
std::uint64_t small_value(AtomicType type, std::uint64_t number) {
  if (number == 7 && type == AtomicType::f32) return detail::bits(std::numeric_limits<float>::quiet_NaN());
  if (number == 7 && type == AtomicType::f64) return detail::bits(std::numeric_limits<double>::quiet_NaN());
  if (number == 6 && type == AtomicType::f32) return detail::bits(-0.0f);
  if (number == 6 && type == AtomicType::f64) return detail::bits(-0.0);
  if (type == AtomicType::f32) return detail::bits(static_cast<float>(number));
  if (type == AtomicType::f64) return detail::bits(static_cast<double>(number));
  return number;
}

TEST_P(Property, NativeAtomicsDoWhatAProcessorDoes) {
  on_bench(2, [seed = seed()](ConduitBench& bench) {
    core::NativeAtomics* const atomics = bench.conduit(0).atomics();
    if (atomics == nullptr) return;  // the owner's processor does them
    ASSERT_NE(bench.conduit(0).rma(), nullptr) << "native atomics name a segment by the key of native puts";
    Target target(bench, 64);
    ASSERT_TRUE(target.status) << target.status.text();
    constexpr std::uint64_t kOffset = 24;
    std::byte* const word = target.memory.data() + kOffset;
    Random random(seed);
    core::Token token = 0;
    for (const AtomicType type : core::AtomicSet::kTypes) {
      for (const AtomicOp op : core::AtomicSet::kOps) {
        if (!atomics->operations().has(op, type)) continue;
        const std::size_t bytes = core::bytes_of(type);
        alignas(8) std::array<std::byte, 8> model{};
        const std::uint64_t start = small_value(type, random.below(8));
        std::memcpy(model.data(), &start, bytes);
        std::memcpy(word, &start, bytes);
        for (int turn = 0; turn < 12; ++turn) {
          if (turn % 4 == 0) {  // not for ever a NaN, and products stay small
            std::memcpy(model.data(), &start, bytes);
            std::memcpy(word, &start, bytes);
          }
          std::uint64_t old = 0;
          const bool returns = op == AtomicOp::load || op == AtomicOp::swap || op == AtomicOp::compare_swap;
          const bool fetch = returns || (op != AtomicOp::store && turn % 3 != 0);
          const detail::AtomicCall call{.op = op,
                                        .type = type,
                                        .operand = small_value(type, random.below(8)),
                                        .expected = small_value(type, random.below(8)),
                                        .result = fetch ? &old : nullptr};
          ++token;
          const core::Post post =
              bench.insist([&] { return atomics->atomic(1, target.key, kOffset, call, token); });
          ASSERT_TRUE(ends(bench, post, token));
          const std::uint64_t before =
              core::apply_atomic(op, type, call.operand, call.expected, model.data());
          ASSERT_TRUE(holds(std::span(word, bytes), std::span(model).first(bytes)))
              << "operation " << static_cast<int>(op) << " of type " << static_cast<int>(type);
          if (fetch) {
            ASSERT_EQ(old, before) << "operation " << static_cast<int>(op) << " of type "
                                   << static_cast<int>(type);
          }
        }
      }
    }
    EXPECT_TRUE(all_are(std::span(target.memory).first(kOffset), std::byte{0}));
    EXPECT_TRUE(all_are(std::span(target.memory).subspan(kOffset + 8), std::byte{0}));
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

TEST_P(Property, NativeAtomicsOfAllRanksOnOneWordLoseNothing) {
  on_bench(3, [](ConduitBench& bench) {
    core::NativeAtomics* const atomics = bench.conduit(0).atomics();
    if (atomics == nullptr || !atomics->operations().has(AtomicOp::add, AtomicType::u64)) return;
    Target target(bench, 64);
    ASSERT_TRUE(target.status) << target.status.text();
    constexpr std::uint64_t kEach = 100;
    std::vector<std::uint64_t> keys;
    for (Rank rank = 0; rank < bench.ranks(); ++rank) {  // the owner too: the network does its own atomics
      const auto key = bench.conduit(rank).rma()->import_key(1, target.exported);
      ASSERT_TRUE(key) << key.status().text();
      keys.push_back(*key);
    }
    std::vector<std::uint64_t> old(bench.ranks() * kEach, ~std::uint64_t{0});
    std::size_t posted = 0;
    for (std::uint64_t turn = 0; turn < kEach; ++turn) {
      for (Rank rank = 0; rank < bench.ranks(); ++rank) {
        const std::size_t index = rank * kEach + turn;
        const detail::AtomicCall call{
            .op = AtomicOp::add, .type = AtomicType::u64, .operand = 1, .result = &old[index]};
        const core::Post post = bench.insist(
            [&] { return bench.conduit(rank).atomics()->atomic(1, keys[rank], 8, call, 1 + index); });
        ASSERT_TRUE(post.kind == core::Post::Kind::done || post.kind == core::Post::Kind::posted);
        posted += post.kind == core::Post::Kind::posted;
      }
    }
    ASSERT_TRUE(bench.poll_until([&] {
      std::size_t completed = 0;
      for (Rank rank = 0; rank < bench.ranks(); ++rank) completed += bench.inbox(rank).completions.size();
      return completed >= posted;
    })) << "completions are missing";
    std::uint64_t sum = 0;
    std::memcpy(&sum, target.memory.data() + 8, sizeof sum);
    EXPECT_EQ(sum, old.size());
    std::ranges::sort(old);
    for (std::uint64_t i = 0; i < old.size(); ++i) ASSERT_EQ(old[i], i) << "each value before, once";
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

// Beside the processors' own atomics on the same word: the owner adds to it meanwhile.
TEST_P(Property, NativeUpdatesDoWhatAProcessorDoesAndLoseNothing) {
  on_bench(2, [seed = seed()](ConduitBench& bench) {
    core::NativeUpdates* const updates = bench.conduit(0).updates();
    if (updates == nullptr) return;
    ASSERT_NE(bench.conduit(0).rma(), nullptr) << "updates name a segment by the key of native puts";
    Target target(bench, 64);
    ASSERT_TRUE(target.status) << target.status.text();
    constexpr std::uint64_t kOffset = 24;
    std::byte* const word = target.memory.data() + kOffset;
    Random random(seed);
    core::Token token = 0;
    for (const AtomicType type : core::AtomicSet::kTypes) {
      for (const AtomicOp op : core::AtomicSet::kOps) {
        if (!core::AtomicSet::exists(op, type)) continue;
        for (int turn = 0; turn < 4; ++turn) {
          const std::size_t bytes = core::bytes_of(type);
          alignas(8) std::array<std::byte, 8> model{};
          const std::uint64_t start = small_value(type, random.below(8));
          std::memcpy(model.data(), &start, bytes);
          std::memcpy(word, &start, bytes);
          const detail::AtomicCall call{
              .op = op, .type = type, .operand = small_value(type, random.below(8))};
          if (!core::NativeUpdates::takes(call)) continue;
          ++token;
          const core::Post post =
              bench.insist([&] { return updates->update(1, target.key, kOffset, call, token); });
          ASSERT_TRUE(ends(bench, post, token));
          core::apply_atomic(op, type, call.operand, 0, model.data());
          ASSERT_TRUE(holds(std::span(word, bytes), std::span(model).first(bytes)))
              << "operation " << static_cast<int>(op) << " of type " << static_cast<int>(type);
        }
      }
    }
    std::memset(word, 0, 8);
    constexpr std::uint64_t kEach = 300;
    const detail::AtomicCall add{.op = AtomicOp::add, .type = AtomicType::u64, .operand = 1};
    std::size_t posted = bench.inbox(0).completions.size();
    for (std::uint64_t turn = 0; turn < kEach; ++turn) {
      const core::Post post =
          bench.insist([&] { return updates->update(1, target.key, kOffset, add, ++token); });
      ASSERT_TRUE(post.kind == core::Post::Kind::done || post.kind == core::Post::Kind::posted);
      posted += post.kind == core::Post::Kind::posted;
      core::apply_atomic(add.op, add.type, 1, 0, word);
    }
    ASSERT_TRUE(bench.poll_until([&] { return bench.inbox(0).completions.size() >= posted; }))
        << "completions are missing";
    std::uint64_t sum = 0;
    std::memcpy(&sum, word, sizeof sum);
    EXPECT_EQ(sum, 2 * kEach);
    EXPECT_TRUE(all_are(std::span(target.memory).first(kOffset), std::byte{0}));
    EXPECT_TRUE(all_are(std::span(target.memory).subspan(kOffset + 8), std::byte{0}));
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

}  // namespace
}  // namespace aqueduct::conformance
