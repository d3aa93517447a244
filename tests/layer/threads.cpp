// Several threads of each rank use its endpoint at once: signals, atomics, groups, and waits of all of them.

#include <aqueduct/atomics.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/shared_event.hpp>
#include <aqueduct/signal.hpp>

#include "tests/layer/parts.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace aqueduct::layer {
namespace {

constexpr std::size_t kThreads = 3;
constexpr std::size_t kTurns = 10;
constexpr std::size_t kBlock = 8;

/// What the threads of all ranks share.
struct Shared {
  explicit Shared(Pe& pe)
      : arrived(pe.heap.allocate<std::uint64_t>(kThreads)),
        blocks(pe.heap.allocate<std::uint64_t>(kThreads * kTurns * kBlock)),
        total(pe.heap.allocate<std::uint64_t>()),
        large(pe.heap.allocate<std::byte>(kLarge)) {}
  static constexpr std::size_t kLarge = 60'000;
  Symmetric<std::uint64_t> arrived;
  Symmetric<std::uint64_t> blocks;
  Symmetric<std::uint64_t> total;
  Symmetric<std::byte> large;
};

std::uint64_t word_of(Rank rank, std::size_t thread, std::size_t turn, std::size_t i) {
  return rank * 1'000'000ull + thread * 10'000 + turn * 100 + i;
}

/// Thread `thread` plays with the thread of this number on the ranks beside it.
void play(Pe& pe, const Shared& shared, std::size_t thread, const SharedEvent& put_by_all) {
  Group group(pe.ep);
  PutOptions in_group;
  in_group.group = &group;
  AtomicOptions atomic_in_group;
  atomic_in_group.group = &group;
  std::array<std::array<std::uint64_t, kBlock>, kTurns> mine;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::size_t at = (thread * kTurns + turn) * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i) mine[turn][i] = word_of(pe.me(), thread, turn, i);
    const SignalWord signal{shared.arrived.on(pe.next(), thread), 1, SignalOp::add};
    pe.report.need(put_signal_nbi(pe.ep, shared.blocks.on(pe.next(), at), mine[turn], signal, in_group),
                   "a thread's put with a signal");
    pe.report.need(atomic_nbi<AtomicOp::add>(pe.ep, shared.total.on(0), 1, nullptr, atomic_in_group),
                   "a thread's addition");
    pe.wait_on(shared.arrived[thread], Comparison::greater_equal, turn + 1, "a thread's wait for a signal");
    if (turn % 4 == 3) pe.report.need(group.wait(), "quiet of a thread's context");
  }
  pe.report.need(group.wait(), "quiet of a thread's context");
  pe.report.need(put_by_all.wait(pe.ep), "a thread's wait for a put of another thread");
}

}  // namespace

void threads(Pe& pe) {
  if (pe.ep.threads() != Threads::multiple) return;
  const Shared shared(pe);
  std::vector<std::byte> large(Shared::kLarge);
  fill_pattern(large, pe.me());
  pe.barrier();
  const SharedEvent put_by_all = share(put_nb(pe.ep, shared.large.on(pe.next()), std::span(large)));
  std::atomic<std::size_t> ended = 0;
  std::vector<std::thread> team;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    team.emplace_back([&, thread, mine = put_by_all] {  // a copy for each thread
      play(pe, shared, thread, mine);
      ended.fetch_add(1, std::memory_order_release);
    });
  }
  pe.wait_until([&] { return ended.load(std::memory_order_acquire) == kThreads; },
                "wait for this rank's threads");
  for (std::thread& thread : team) thread.join();
  pe.report.need(put_by_all.status(), "the outcome of a put that several threads waited for");
  pe.barrier();
  pe.report.all(
      shared.blocks.mine(),
      [&](std::size_t i) {
        const std::size_t turn = i / kBlock % kTurns;
        return word_of(pe.previous(), i / kBlock / kTurns, turn, i % kBlock);
      },
      "a block that a thread of the previous rank put");
  pe.report.all(
      shared.large.mine(), [&](std::size_t i) { return pattern(pe.previous(), i); },
      "a put that several threads waited for");
  if (pe.me() == 0) {
    pe.report.equal<std::uint64_t>(shared.total[0], kThreads * kTurns * pe.ranks(),
                                   "additions of all threads");
  }
}

}  // namespace aqueduct::layer
