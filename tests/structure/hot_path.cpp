// Compiled and disassembled by check_hot_path.py, never run.
#include <aqueduct/rma.hpp>

#include <cstdint>

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

// What the check must find wanting: the same put, behind a call.
[[gnu::noinline]] bool behind_a_call(aqueduct::Endpoint& ep, Eight to, std::uint64_t value) {
  asm volatile("" ::: "memory");
  return hot_put(ep, to, value);
}
bool cold_put(aqueduct::Endpoint& ep, Eight to, std::uint64_t value) {
  return behind_a_call(ep, to + 1, value) && behind_a_call(ep, to, value);
}
