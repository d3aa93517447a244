// Atomics in every form: one rank alone, beside a plain model, and all ranks together.

#include <aqueduct/atomics.hpp>
#include <aqueduct/group.hpp>

#include "tests/layer/parts.hpp"

namespace aqueduct::layer {
namespace {

/// A word of the next rank that only this rank changes, so that each old value is known.
template <Atomic T>
struct Model {
  void old(Result<T> got, T wanted, const char* what) {
    pe.report.equal<T>(pe.report.need(got, what), wanted, what);
  }
  void old(Status status, T got, T wanted, const char* what) {
    pe.report.need(status, what);
    pe.report.equal<T>(got, wanted, what);
  }
  Pe& pe;
  Endpoint& ep;
  GlobalPtr<T> at;
};

template <Atomic T>
void blocking_forms(Model<T>& word) {
  Endpoint& ep = word.ep;
  const GlobalPtr<T> at = word.at;
  word.pe.report.need(store(ep, at, T{12}), "store");
  word.old(fetch_add(ep, at, T{3}), T{12}, "fetch_add");
  word.old(swap(ep, at, T{20}), T{15}, "swap");
  word.old(compare_swap(ep, at, T{20}, T{6}), T{20}, "compare_swap of an equal value");
  word.old(compare_swap(ep, at, T{20}, T{9}), T{6}, "compare_swap of another value");
  word.old(fetch_multiply(ep, at, T{7}), T{6}, "fetch_multiply");
  word.old(fetch_min(ep, at, T{10}), T{42}, "fetch_min");
  word.old(fetch_max(ep, at, T{17}), T{10}, "fetch_max");
  word.pe.report.need(atomic<AtomicOp::add>(ep, at, T{1}), "add without fetching");
  word.old(load(ep, at), T{18}, "load");
}

template <Atomic T>
void other_forms(Model<T>& word) {
  Endpoint& ep = word.ep;
  const GlobalPtr<T> at = word.at;
  Group group(ep);
  AtomicOptions options;
  options.group = &group;
  T got{};
  word.old(ep.wait(atomic_nb<AtomicOp::max>(ep, at, T{30}, &got)), got, T{18}, "atomic_nb");
  Status begun = atomic_nbi<AtomicOp::add>(ep, at, T{5}, &got, options);
  word.pe.report.need(begun, "begin atomic_nbi");
  word.old(group.wait(), got, T{30}, "atomic_nbi");
  word.old(ep.wait(compare_swap_nb(ep, at, T{35}, T{8}, &got)), got, T{35}, "compare_swap_nb");
  begun = compare_swap_nbi(ep, at, T{8}, T{9}, &got, options);
  word.pe.report.need(begun, "begin compare_swap_nbi");
  word.old(group.wait(), got, T{8}, "compare_swap_nbi");
  word.pe.report.need(compare_swap_nbi(ep, at, T{9}, T{11}, nullptr, options),
                      "begin a compare_swap_nbi without result");
  word.pe.report.need(group.wait(), "compare_swap_nbi without result");
  word.old(atomic_fetch<AtomicOp::multiply>(ep, at, T{4}), T{11}, "atomic_fetch");
  word.old(load(ep, at), T{44}, "load after all forms");
  if constexpr (AtomicInteger<T>) {
    word.old(fetch_or(ep, at, T{3}), T{44}, "fetch_or");
    word.old(fetch_xor(ep, at, T{1}), T{47}, "fetch_xor");
    word.old(fetch_and(ep, at, T{6}), T{46}, "fetch_and");
    word.old(load(ep, at), T{6}, "load after bitwise operations");
  }
}

template <Atomic T>
void alone(Pe& pe) {
  const auto word = pe.heap.allocate<T>();
  pe.barrier();
  Model<T> model{pe, pe.ep, word.on(pe.next())};
  blocking_forms(model);
  other_forms(model);
}

/// Everybody changes the same words of rank 0.
void together(Pe& pe) {
  const auto counts = pe.heap.allocate<std::uint64_t>(5);  // sum, product, ranks, next ticket, tickets taken
  const auto least = pe.heap.allocate<std::int32_t>();
  const auto most = pe.heap.allocate<double>();
  counts[1] = 1;
  pe.barrier();
  constexpr std::uint64_t kTickets = 3;
  for (std::uint64_t i = 0; i < kTickets; ++i) {
    pe.report.need(atomic_nbi<AtomicOp::add>(pe.ep, counts.on(0), pe.me() + 1), "add");
    pe.report.need(atomic_nbi<AtomicOp::multiply>(pe.ep, counts.on(0, 1), 3), "multiply");
    const std::uint64_t ticket = pe.report.need(fetch_add(pe.ep, counts.on(0, 3), 1), "take a ticket");
    const std::uint64_t bit = std::uint64_t{1} << ticket % 64;
    pe.report.need(atomic_nbi<AtomicOp::bit_xor>(pe.ep, counts.on(0, 4), bit), "mark a ticket");
  }
  pe.report.need(atomic_nbi<AtomicOp::bit_or>(pe.ep, counts.on(0, 2), std::uint64_t{1} << pe.me() % 64),
                 "or");
  pe.report.need(atomic_nbi<AtomicOp::min>(pe.ep, least.on(0), -static_cast<std::int32_t>(pe.me())), "min");
  pe.report.need(atomic_nbi<AtomicOp::max>(pe.ep, most.on(0), 0.5 * pe.me()), "max");
  pe.barrier();
  if (pe.me() != 0) return;
  const std::uint64_t n = pe.ranks();
  std::uint64_t product = 1, ranks = 0, tickets = 0;
  for (std::uint64_t i = 0; i < n * kTickets; ++i) {
    product *= 3;
    tickets ^= std::uint64_t{1} << i % 64;
  }
  for (std::uint64_t i = 0; i < n; ++i) ranks |= std::uint64_t{1} << i % 64;
  pe.report.equal<std::uint64_t>(counts[0], kTickets * n * (n + 1) / 2, "the sum of all ranks");
  pe.report.equal<std::uint64_t>(counts[1], product, "the product of all ranks");
  pe.report.equal<std::uint64_t>(counts[2], ranks, "the ranks that took part");
  pe.report.equal<std::uint64_t>(counts[4], tickets, "the tickets, each taken once");
  pe.report.equal<std::int32_t>(least[0], -static_cast<std::int32_t>(n - 1), "the minimum of all ranks");
  pe.report.equal<double>(most[0], 0.5 * static_cast<double>(n - 1), "the maximum of all ranks");
}

}  // namespace

void atomics(Pe& pe) {
  alone<std::int32_t>(pe);
  alone<std::uint32_t>(pe);
  alone<std::int64_t>(pe);
  alone<std::uint64_t>(pe);
  alone<float>(pe);
  alone<double>(pe);
  together(pe);
}

}  // namespace aqueduct::layer
