// Puts with a signal to any word, and the order that fences make.

#include <aqueduct/atomics.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/order.hpp>
#include <aqueduct/signal.hpp>

#include "tests/layer/parts.hpp"

#include <array>
#include <numeric>
#include <span>
#include <vector>

namespace aqueduct::layer {
namespace {

constexpr std::array<std::size_t, 4> kBlocks = {0, 8, 300, 20'000};
constexpr std::size_t kMost = 20'000;

/// Blocks for the next rank, each with its signal, as one group.
struct Blocks {
  explicit Blocks(Pe& pe)
      : area(pe.heap.allocate<std::byte>(kBlocks.size() * kMost)), group(pe.ep), mine(kMost) {
    fill_pattern(mine, pe.me());
  }
  void send(Pe& pe, std::size_t block, const SignalWord& signal) {
    PutOptions options;
    options.group = &group;
    pe.report.need(put_signal_nbi(pe.ep, area.on(pe.next(), block * kMost),
                                  std::span(mine).first(kBlocks[block]), signal, options),
                   "put with a signal");
  }
  void check(Pe& pe, std::size_t block) const {
    pe.report.all(
        area.mine().subspan(block * kMost, kBlocks[block]),
        [&](std::size_t i) { return pattern(pe.previous(), i); }, "a block when its signal has arrived");
  }
  Symmetric<std::byte> area;
  Group group;
  std::vector<std::byte> mine;
};

void adding(Pe& pe) {
  Blocks blocks(pe);
  const auto arrived = pe.heap.allocate<std::uint64_t>(2);
  pe.barrier();
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    blocks.send(pe, block, {arrived.on(pe.next(), 1), block + 1, SignalOp::add});
  }
  pe.wait_on(arrived[1], Comparison::equal, 1 + 2 + 3 + 4, "wait for signals that add");
  for (std::size_t block = 0; block < kBlocks.size(); ++block) blocks.check(pe, block);
  pe.report.need(blocks.group.wait(), "wait for the group of puts with signals");
}

void setting(Pe& pe) {
  Blocks blocks(pe);
  const auto words = pe.heap.allocate<std::uint64_t>(kBlocks.size());
  pe.barrier();
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    blocks.send(pe, block, {words.on(pe.next(), block), 100 + block, SignalOp::set});
  }
  for (std::size_t block = kBlocks.size(); block-- > 0;) {
    pe.wait_on(words[block], Comparison::equal, 100 + block, "wait for a signal that sets");
    blocks.check(pe, block);
  }
  pe.report.need(blocks.group.wait(), "wait for the group of puts with signals");
}

/// Signals and atomics of all ranks on one word of rank 0: none may be lost.
void from_all(Pe& pe) {
  const auto word = pe.heap.allocate<std::uint64_t>();
  const auto names = pe.heap.allocate<std::uint64_t>(pe.ranks());
  pe.barrier();
  const std::uint64_t name[] = {500 + pe.me()};
  pe.report.need(put_signal(pe.ep, names.on(0, pe.me()), name, SignalWord{word.on(0), 1, SignalOp::add}),
                 "put with a signal to rank 0");
  pe.report.need(atomic_nbi<AtomicOp::add>(pe.ep, word.on(0), 1000), "add to the signal's word");
  if (pe.me() == 0) {
    pe.wait_on(word[0], Comparison::equal, std::uint64_t{1001} * pe.ranks(), "wait for signals of all ranks");
    pe.report.all(
        names.mine(), [](std::size_t i) { return 500 + i; }, "the put of a rank that has signalled");
  }
  pe.quiet();
}

constexpr std::size_t kRounds = 12;
constexpr std::size_t kPayload = 3000;

/// Put, fence, flag: whoever sees the flag at `round` or more sees the payload of all rounds up to it.
///
/// Requires: begin_flag begins raising the word to `round`, which counts from 1. Signals are in no order among
///           themselves, so they add: of `round` additions one belongs to a round as late as that.
template <class Fence, class Flag>
void pipeline(Pe& pe, const Fence& fence_of_round, const Flag& begin_flag) {
  const auto data = pe.heap.allocate<std::byte>(kRounds * kPayload);
  const auto flag = pe.heap.allocate<std::uint64_t>();
  std::vector<std::byte> mine(kRounds * kPayload);
  fill_pattern(mine, pe.me());
  pe.barrier();
  for (std::size_t round = 1; round <= kRounds; ++round) {
    const std::size_t at = (round - 1) * kPayload;
    pe.report.need(put_nbi(pe.ep, data.on(pe.next(), at), std::span(mine).subspan(at, kPayload)), "put_nbi");
    pe.report.need(fence_of_round(), "fence");
    pe.report.need(begin_flag(flag.on(pe.next()), round), "the flag behind the fence");
    pe.report.need(fence_of_round(), "fence");  // a later flag must not be overtaken by this one
  }
  for (std::size_t round = 1; round <= kRounds; ++round) {
    pe.wait_on(flag[0], Comparison::greater_equal, round, "wait for the flag behind a fence");
    const std::size_t at = (round - 1) * kPayload;
    pe.report.all(
        data.mine().subspan(at, kPayload), [&](std::size_t i) { return pattern(pe.previous(), at + i); },
        "the payload when its flag has arrived");
  }
  pe.quiet();
}

}  // namespace

void signals(Pe& pe) {
  adding(pe);
  setting(pe);
  from_all(pe);
}

void order(Pe& pe) {
  // Flags that stay in place: the put of one that a fence holds back need not wait.
  std::array<std::uint64_t, kRounds + 1> flags;
  std::iota(flags.begin(), flags.end(), std::uint64_t{0});
  pipeline(
      pe, [&] { return fence(pe.ep, pe.next()); },
      [&](GlobalPtr<std::uint64_t> flag, std::uint64_t round) {
        return put_nbi(pe.ep, flag, std::span(&flags[round], 1));
      });
  pipeline(
      pe, [&] { return fence(pe.ep); },
      [&](GlobalPtr<std::uint64_t> flag, std::uint64_t) {
        return atomic_nbi<AtomicOp::add>(pe.ep, flag, 1);
      });
  pipeline(
      pe, [&] { return fence(pe.ep, pe.next()); },
      [&](GlobalPtr<std::uint64_t> flag, std::uint64_t) {
        return put_signal_nbi(pe.ep, flag, std::span<const std::uint64_t>(),
                              SignalWord{flag, 1, SignalOp::add});
      });
  // Quiet in place of the fence.
  pipeline(
      pe, [&] { return pe.ep.wait_implicit(); },
      [&](GlobalPtr<std::uint64_t> flag, std::uint64_t round) { return put_value_nbi(pe.ep, flag, round); });
}

}  // namespace aqueduct::layer
