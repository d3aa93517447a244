// Compiled and disassembled by check_hot_path.py, never run.
#include <aqueduct/atomic_domain.hpp>
#include <aqueduct/rma.hpp>

#include <cstdint>
#include <span>

using Eight = aqueduct::GlobalPtr<std::uint64_t>;

bool hot_put(aqueduct::Endpoint& ep, Eight to, std::uint64_t value) {
  return aqueduct::put_value(ep, to, value).ok();
}

bool hot_get(aqueduct::Endpoint& ep, Eight from, std::uint64_t& value) {
  const auto got = aqueduct::get_value(ep, from);
  if (!got) return false;
  value = *got;
  return true;
}

// One word, through a span whose length is known only at run time.
bool hot_put_span(aqueduct::Endpoint& ep, aqueduct::GlobalPtr<std::uint32_t> to,
                  std::span<const std::uint32_t> from) {
  return aqueduct::put(ep, to, from).ok();
}

// Each atomic occurs in several places, because a compiler inlines a function
// with one call even if it is not forced to.
#define AQUEDUCT_HOT_FETCH(name, call)                                \
  bool name(aqueduct::Endpoint& ep, Eight at, std::uint64_t& value) { \
    const auto old = call;                                            \
    if (!old) return false;                                           \
    value = *old;                                                     \
    return true;                                                      \
  }
AQUEDUCT_HOT_FETCH(hot_fetch_add, aqueduct::fetch_add(ep, at, value))
AQUEDUCT_HOT_FETCH(hot_fetch_add_again, aqueduct::fetch_add(ep, at, 1))
AQUEDUCT_HOT_FETCH(hot_fetch_add_general, aqueduct::atomic_fetch<aqueduct::AtomicOp::add>(ep, at, 3))
AQUEDUCT_HOT_FETCH(hot_swap, aqueduct::swap(ep, at, value))
AQUEDUCT_HOT_FETCH(hot_swap_again, aqueduct::swap(ep, at, 1))
AQUEDUCT_HOT_FETCH(hot_load, aqueduct::load(ep, at))
AQUEDUCT_HOT_FETCH(hot_load_again, aqueduct::load(ep, at + 1))
AQUEDUCT_HOT_FETCH(hot_compare_swap, aqueduct::compare_swap(ep, at, value, 1))
AQUEDUCT_HOT_FETCH(hot_compare_swap_again, aqueduct::compare_swap(ep, at, 1, value))
AQUEDUCT_HOT_FETCH(hot_fetch_max, aqueduct::fetch_max(ep, at, value))
AQUEDUCT_HOT_FETCH(hot_fetch_max_again, aqueduct::fetch_max(ep, at, 1))

bool hot_store(aqueduct::Endpoint& ep, Eight at, std::uint64_t value) {
  return aqueduct::store(ep, at, value).ok();
}
bool hot_store_again(aqueduct::Endpoint& ep, Eight at) { return aqueduct::store(ep, at, 1).ok(); }
bool hot_add_nbi(aqueduct::Endpoint& ep, Eight at, std::uint64_t value) {
  return aqueduct::atomic_nbi<aqueduct::AtomicOp::add>(ep, at, value).ok();
}
bool hot_add_nb(aqueduct::Endpoint& ep, Eight at, std::uint64_t value, std::uint64_t& old) {
  return ep.wait(aqueduct::atomic_nb<aqueduct::AtomicOp::add>(ep, at, value, &old)).ok();
}

using Domain = aqueduct::AtomicDomain<std::uint64_t>;
bool hot_domain_add(const Domain& domain, Eight at) { return domain.add(at, 1).ok(); }
bool hot_domain_add_again(const Domain& domain, Eight at, std::uint64_t value) {
  return domain.add(at, value).ok();
}

// The check must reject this one: the same put, behind a call.
[[gnu::noinline]] bool behind_a_call(aqueduct::Endpoint& ep, Eight to, std::uint64_t value) {
  asm volatile("" ::: "memory");
  return hot_put(ep, to, value);
}
bool cold_put(aqueduct::Endpoint& ep, Eight to, std::uint64_t value) {
  return behind_a_call(ep, to + 1, value) && behind_a_call(ep, to, value);
}
[[gnu::noinline]] bool behind_a_call(aqueduct::Endpoint& ep, Eight at) {
  asm volatile("" ::: "memory");
  return hot_store_again(ep, at);
}
bool cold_atomic(aqueduct::Endpoint& ep, Eight at) {
  return behind_a_call(ep, at + 1) && behind_a_call(ep, at);
}
