// Waiting on words that other ranks write: every comparison, every type, several words at once, and limits.

#include <aqueduct/atomics.hpp>

#include "tests/layer/parts.hpp"

#include <iterator>
#include <limits>

namespace aqueduct::layer {
namespace {

/// One wait: the word goes from `before` to `after`, and only then compares with `value`.
template <class T>
struct Lap {
  Comparison how;
  T before, after, value;
};

/// Writes in turn by a put that wakes the waiter, an atomic that does, and a put that tells nobody.
template <class T>
void write(Pe& pe, GlobalPtr<T> word, T value, std::size_t turn) {
  if (turn % 3 == 1) {
    AtomicOptions options;
    options.notify = true;
    pe.report.need(atomic_nbi<AtomicOp::store>(pe.ep, word, value, nullptr, options), "store a word");
  } else {
    PutOptions options;
    options.notify = turn % 3 == 0;
    pe.report.need(put_value_nbi(pe.ep, word, value, options), "put a word");
  }
}

/// Each comparison goes round the ring of ranks once: a rank waits, then writes the next one's word.
template <class T>
void ring(Pe& pe, T low, T high) {
  const Lap<T> laps[] = {{Comparison::equal, low, high, high},  {Comparison::not_equal, low, high, low},
                         {Comparison::greater, low, high, low}, {Comparison::greater_equal, low, high, high},
                         {Comparison::less, high, low, high},   {Comparison::less_equal, high, low, low}};
  const auto words = pe.heap.allocate<T>(std::size(laps));
  for (std::size_t i = 0; i < std::size(laps); ++i) words[i] = laps[i].before;
  pe.barrier();
  for (std::size_t i = 0; i < std::size(laps); ++i) {
    const auto [how, before, after, value] = laps[i];
    const bool holds = pe.report.need(test_on(pe.ep, words.on(pe.me(), i), how, value), "test_on");
    pe.report.equal<int>(holds, 0, "a comparison that does not hold yet", i);
  }
  pe.barrier();
  for (std::size_t i = 0; i < std::size(laps); ++i) {
    const auto [how, before, after, value] = laps[i];
    if (pe.me() == 0) write(pe, words.on(pe.next(), i), after, i);
    if (i % 2 == 0) {
      pe.wait_on(words[i], how, value, "wait_on a word of mine");
    } else {
      pe.report.need(aqueduct::wait_on(pe.ep, words.on(pe.me(), i), how, value, Pe::kPatience),
                     "wait_on a GlobalPtr");
    }
    pe.report.equal<T>(seen(words[i]), after, "the word after the wait", i);
    if (pe.me() != 0) write(pe, words.on(pe.next(), i), after, i);
  }
  pe.quiet();
}

void several_words(Pe& pe) {
  const auto votes = pe.heap.allocate<std::uint64_t>(pe.ranks());
  pe.barrier();
  for (Rank to = 0; to < pe.ranks(); ++to) {
    pe.report.need(put_value_nbi(pe.ep, votes.on(to, pe.me()), 100 + pe.me()), "vote");
  }
  const auto voted = [&](Rank rank) { return seen(votes[rank]) != 0; };
  pe.wait_until(
      [&] {
        for (Rank rank = 0; rank < pe.ranks(); ++rank) {
          if (voted(rank)) return true;
        }
        return false;
      },
      "wait for any of several words");
  pe.wait_until(
      [&] {
        for (Rank rank = 0; rank < pe.ranks(); ++rank) {
          if (!voted(rank)) return false;
        }
        return true;
      },
      "wait for all of several words");
  pe.report.all(
      votes.mine(), [](std::size_t i) { return 100 + i; }, "the vote of a rank");
  pe.quiet();
}

void limits(Pe& pe) {
  using namespace std::chrono_literals;
  const auto word = pe.heap.allocate<std::int32_t>();
  pe.report.code(aqueduct::wait_on(pe.ep, word[0], Comparison::not_equal, 0, 2ms), ErrorCode::timed_out,
                 "a wait for a word that nobody writes");
  pe.report.code(pe.ep.wait_until([] { return false; }, 2ms), ErrorCode::timed_out,
                 "a wait for a condition that never holds");
  pe.report.code(aqueduct::wait_on(pe.ep, GlobalPtr<std::int32_t>{pe.me(), 2, word.on(0).segment()},
                                   Comparison::equal, 1, 2ms),
                 ErrorCode::misaligned, "a wait for a word at an odd address");
  const Status idle = pe.ep.progress_for(1ms);
  if (!idle) pe.report.code(idle, ErrorCode::timed_out, "progress_for");
}

}  // namespace

void waiting(Pe& pe) {
  ring<std::int32_t>(pe, -5, 3);
  ring<std::uint32_t>(pe, 3, 0xfffffff0u);
  ring<std::int64_t>(pe, std::numeric_limits<std::int64_t>::min(), -1);
  ring<std::uint64_t>(pe, 1, std::uint64_t{1} << 63);
  several_words(pe);
  limits(pe);
}

}  // namespace aqueduct::layer
