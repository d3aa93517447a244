// Contexts: several groups open at a time, and Events with several holders.

#include <aqueduct/atomics.hpp>
#include <aqueduct/continuation.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/shared_event.hpp>
#include <aqueduct/vis.hpp>

#include "tests/layer/parts.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <vector>

namespace aqueduct::layer {
namespace {

/// Puts in turn to several contexts, each of which is waited for while the others are open.
void several_open(Pe& pe) {
  constexpr std::size_t kContexts = 4, kPuts = 16;
  const auto words = pe.heap.allocate<std::uint64_t>(kContexts * kPuts);
  const auto value = [&](std::size_t i) { return std::uint64_t{1000} * pe.me() + i + 1; };
  std::deque<Group> contexts;
  for (std::size_t i = 0; i < kContexts; ++i) contexts.emplace_back(pe.ep);
  pe.barrier();
  for (std::size_t i = 0; i < kPuts; ++i) {
    for (std::size_t context = 0; context < kContexts; ++context) {
      const std::size_t at = context * kPuts + i;
      PutOptions options;
      options.group = &contexts[context];
      pe.report.need(put_value_nbi(pe.ep, words.on(pe.next(), at), value(at), options), "put in a context");
    }
  }
  for (std::size_t context = kContexts; context-- > 0;) {
    pe.report.need(contexts[context].wait(), "quiet of a context");
    pe.report.equal<std::uint32_t>(contexts[context].in_flight(), 0, "operations in flight after quiet");
    std::array<std::uint64_t, kPuts> back{};
    pe.report.need(get(pe.ep, back, words.on(pe.next(), context * kPuts)), "get what a context has put");
    pe.report.all(
        std::span<std::uint64_t>(back), [&](std::size_t i) { return value(context * kPuts + i); },
        "what a context has put");
  }
}

/// A get, an atomic and a transfer of pieces in one context.
void mixed(Pe& pe) {
  constexpr std::size_t kWords = 24;
  const auto words = pe.heap.allocate<std::uint64_t>(kWords);
  const auto even = pe.heap.allocate<std::uint64_t>(kWords);
  const auto counter = pe.heap.allocate<std::uint64_t>();
  for (std::size_t i = 0; i < kWords; ++i) words[i] = 7 * pe.me() + i;
  counter[0] = 50;
  pe.barrier();
  Group context(pe.ep);
  PutOptions put;
  GetOptions get;
  AtomicOptions atomic;
  put.group = get.group = atomic.group = &context;
  std::array<std::uint64_t, kWords> back{}, mine{};
  for (std::size_t i = 0; i < kWords; ++i) mine[i] = 9 * pe.me() + i;
  std::uint64_t old = 0;
  pe.report.need(get_nbi(pe.ep, std::span(back), words.on(pe.next()), get), "get in a context");
  pe.report.need(atomic_nbi<AtomicOp::add>(pe.ep, counter.on(pe.next()), 1, &old, atomic),
                 "add in a context");
  const Strided every_second(sizeof(std::uint64_t), {{kWords / 2, 2 * sizeof(std::uint64_t)}});
  pe.report.need(
      put_nbi(pe.ep, pieces(even.on(pe.next()), every_second), pieces(mine.data(), every_second), put),
      "put pieces in a context");
  pe.wait_until([&] { return context.done(); }, "wait until a context is done");
  pe.report.need(context.wait(), "the outcome of a context");
  pe.report.equal<std::uint64_t>(old, 50, "the old value that an atomic of a context fetched");
  pe.report.all(
      std::span<std::uint64_t>(back), [&](std::size_t i) { return 7 * pe.next() + i; }, "what a context got");
  pe.barrier();
  pe.report.all(
      even.mine(), [&](std::size_t i) { return i % 2 == 0 ? 9 * pe.previous() + i : 0; },
      "pieces that the previous rank put in a context");
}

/// The source may be overwritten once it is free, although the put is not complete.
void sources(Pe& pe) {
  constexpr std::size_t kBytes = 100'000;
  const auto area = pe.heap.allocate<std::byte>(kBytes);
  std::vector<std::byte> mine(kBytes);
  fill_pattern(mine, pe.me());
  pe.barrier();
  Group context(pe.ep);
  PutOptions options;
  options.group = &context;
  options.source = SourceReuse::on_event;
  pe.report.need(put_nbi(pe.ep, area.on(pe.next()), std::span(mine), options), "put in a context");
  pe.report.need(context.wait_source(), "wait for the sources of a context");
  std::ranges::fill(mine, std::byte{0});
  pe.report.need(context.wait(), "quiet of a context");
  pe.barrier();
  pe.report.all(
      area.mine(), [&](std::size_t i) { return pattern(pe.previous(), i); },
      "a put whose source was overwritten after wait_source");
}

}  // namespace

void contexts(Pe& pe) {
  several_open(pe);
  mixed(pe);
  sources(pe);
}

void events(Pe& pe) {
  constexpr std::size_t kBytes = 50'000;
  const auto area = pe.heap.allocate<std::byte>(kBytes);
  const auto words = pe.heap.allocate<std::uint64_t>(8);
  std::vector<std::byte> mine(kBytes), back(kBytes);
  fill_pattern(mine, pe.me());
  pe.barrier();

  // Handles of a layer are single pointers, copied freely.
  SharedEvent one = share(put_nb(pe.ep, area.on(pe.next()), std::span(mine)));
  const SharedEvent other = one;
  void* const handle = one.release();
  pe.report.need(SharedEvent::adopt(handle).wait(pe.ep), "wait for a shared Event that was one word");
  pe.report.holds(other.done(), "a copy of a shared Event is done");
  pe.report.need(other.status(), "the outcome of a copy of a shared Event");
  Event event = get_nb(pe.ep, std::span(back), area.on(pe.next()));
  void* const word = event.release();
  pe.report.need(pe.ep.wait(Event::adopt(word)), "wait for an Event that was one word");
  pe.report.all(
      std::span(back), [&](std::size_t i) { return pattern(pe.me(), i); }, "gets of what I put");

  std::uint64_t ended = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto count = [&ended](Status status) { ended += status ? 1 : 100; };
    pe.report.need(put_value_nb(pe.ep, words.on(pe.next(), i), pe.me() + i + 1).then(pe.ep, count), "then");
  }
  pe.wait_until([&] { return ended >= 8; }, "wait for continuations");
  pe.report.equal<std::uint64_t>(ended, 8, "continuations that saw a success");
  pe.barrier();
  pe.report.all(
      words.mine(), [&](std::size_t i) { return pe.previous() + i + 1; }, "words put with a continuation");
}

}  // namespace aqueduct::layer
