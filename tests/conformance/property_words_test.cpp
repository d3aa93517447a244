#include "tests/conformance/property.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace aqueduct::conformance {
namespace {

constexpr std::uint64_t kFirstWord = 0x0102030405060708;

/// The two values between which a word of T changes.
template <class T>
constexpr std::array<T, 2> kTwoWords{static_cast<T>(kFirstWord), static_cast<T>(~kFirstWord)};

/// Calls `look` on a thread of its own until this ends. `good` says whether it has always returned true.
class Beside {
 public:
  template <class Look>
  explicit Beside(Look look)
      : thread_([this, look](const std::stop_token& stop) mutable {
          while (!stop.stop_requested()) {
            if (!look()) good_.store(false, std::memory_order_relaxed);
          }
        }) {}
  bool good() const noexcept { return good_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> good_{true};
  std::jthread thread_;
};

template <class T>
bool is_one_of_two(T value) noexcept {
  return value == kTwoWords<T>[0] || value == kTwoWords<T>[1];
}

/// Puts the two values in turns to a word that another thread polls.
template <class T>
void put_words_of(ConduitBench& bench, Target& target, core::Token& token) {
  core::NativeRma& rma = *bench.conduit(0).rma();
  T& word = *reinterpret_cast<T*>(target.memory.data() + 16);
  std::atomic_ref(word).store(kTwoWords<T>[0]);
  const Beside poller(
      [&word] { return is_one_of_two(std::atomic_ref(word).load(std::memory_order_relaxed)); });
  for (std::size_t turn = 0; turn < 100; ++turn) {
    const T value = kTwoWords<T>[turn % 2];
    const core::Post post = bench.insist(
        [&] { return rma.put(1, target.key, 16, std::as_bytes(std::span(&value, 1)), false, token); });
    ASSERT_TRUE(ends(bench, post, token++));
    ASSERT_EQ(std::atomic_ref(word).load(), value);
  }
  EXPECT_TRUE(poller.good()) << "a poller saw a mixture of two puts of " << sizeof(T) << " bytes";
}

/// Gets a word that another thread changes between the two values.
template <class T>
void get_words_of(ConduitBench& bench, Target& target, core::Token& token) {
  core::NativeRma& rma = *bench.conduit(0).rma();
  T& word = *reinterpret_cast<T*>(target.memory.data() + 24);
  std::atomic_ref(word).store(kTwoWords<T>[0]);
  const Beside writer([&word, turn = std::size_t{0}]() mutable {
    std::atomic_ref(word).store(kTwoWords<T>[++turn % 2], std::memory_order_relaxed);
    return true;
  });
  for (int turn = 0; turn < 100; ++turn) {
    T value{};
    const core::Post post = bench.insist(
        [&] { return rma.get(1, target.key, 24, std::as_writable_bytes(std::span(&value, 1)), token); });
    ASSERT_TRUE(ends(bench, post, token++));
    ASSERT_TRUE(is_one_of_two(value)) << "a mixture of two words of " << sizeof(T) << " bytes";
  }
}

TEST_P(Property, WholeWordsMeansThatNobodySeesHalfOfOne) {
  on_bench(2, [](ConduitBench& bench) {
    const core::WholeWords words = bench.conduit(0).properties().whole_words;
    if (bench.conduit(0).rma() == nullptr || words == core::WholeWords::none) return;
    Target target(bench, 64);
    ASSERT_TRUE(target.status) << target.status.text();
    core::Token token = 1;
    ASSERT_NO_FATAL_FAILURE(put_words_of<std::uint16_t>(bench, target, token));
    ASSERT_NO_FATAL_FAILURE(put_words_of<std::uint32_t>(bench, target, token));
    ASSERT_NO_FATAL_FAILURE(put_words_of<std::uint64_t>(bench, target, token));
    if (words >= core::WholeWords::puts_and_gets) {
      ASSERT_NO_FATAL_FAILURE(get_words_of<std::uint16_t>(bench, target, token));
      ASSERT_NO_FATAL_FAILURE(get_words_of<std::uint32_t>(bench, target, token));
      ASSERT_NO_FATAL_FAILURE(get_words_of<std::uint64_t>(bench, target, token));
    }
    bench.conduit(1).rma()->unregister_segment(0);
  });
}

}  // namespace
}  // namespace aqueduct::conformance
