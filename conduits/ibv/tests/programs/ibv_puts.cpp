// The program that count_instructions.py runs under callgrind: puts of 8 bytes over the mock network.

#include "conduits/ibv/tests/programs/two_ranks.hpp"

#include <cstdint>
#include <iostream>
#include <new>

using namespace aqueduct;
using Number = std::span<const std::uint64_t>;

// The script looks for these names. A tail call would leave the counted function, so each does something after its put.
extern "C" {
[[gnu::noinline]] bool lone_put(Endpoint& ep, const GlobalPtr<std::uint64_t>& to, Number from, Event* event) {
  new (event) Event(put_nb(ep, to, from));
  asm volatile("" ::: "memory");
  return true;
}
[[gnu::noinline]] bool burst_put(Endpoint& ep, const GlobalPtr<std::uint64_t>& to, Number from) {
  const bool begun = put_nbi(ep, to, from).ok();
  asm volatile("" ::: "memory");
  return begun;
}
}

namespace {

constexpr int kTurns = 100;
constexpr int kBurst = 64;

bool write(Endpoint& me) {
  const std::uint64_t value = 4711;
  const Number from(&value, 1);
  const GlobalPtr<std::uint64_t> to{1, 0};
  if (!put(me, to, from)) return false;  // makes the connection
  bool right = true;
  for (int turn = 0; turn < kTurns; ++turn) {
    alignas(Event) std::byte room[sizeof(Event)];
    auto* const event = reinterpret_cast<Event*>(room);
    lone_put(me, to, from, event);
    right = me.wait(*event).ok() && right;
    event->~Event();
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < kBurst; ++i) right = burst_put(me, to, from) && right;
    right = me.wait_implicit().ok() && right;
  }
  return right;
}

}  // namespace

int main() {
  std::cout << kTurns * kBurst << "\n";  // how many puts go in bursts
  return run_two_ranks([](Endpoint& me) { return me.rank() != 0 || write(me); });
}
