// The program that count_instructions.py runs under callgrind: puts of 8 bytes over sockets between two ranks, both on one
// thread.

#include <aqueduct/aqueduct.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <new>
#include <span>
#include <utility>

using namespace aqueduct;

namespace {

constexpr int kTurns = 1000;
constexpr int kWarm = 100;  // not counted: connections are made, pools filled
using Number = std::span<const std::uint64_t>;

}  // namespace

// The script looks for this name. A tail call would leave the counted function.
extern "C" {
[[gnu::noinline]] bool count_put(Endpoint& ep, const GlobalPtr<std::uint64_t>& to, Number from,
                                 Event* event) {
  new (event) Event(put_nb(ep, to, from));
  asm volatile("" ::: "memory");
  return true;
}
}

namespace {

/// A put, and progress on both sides until it has ended. False: it has failed, or takes too long.
template <class Put>
bool ends(Endpoint& a, Endpoint& b, const Put& begin) {
  alignas(Event) std::byte room[sizeof(Event)];
  auto* const event = reinterpret_cast<Event*>(room);
  begin(event);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!event->done() && std::chrono::steady_clock::now() < until) {
    b.progress();
    a.progress();
  }
  const bool right = event->done() && event->status().ok();
  event->~Event();
  return right;
}

}  // namespace

int main() {
  Config config = Config::from_variables({});
  bool set = true;
  // No thread takes over, whenever it likes.
  for (const auto& [name, value] :
       {std::pair{"conduit", "udp"}, {"near", "off"}, {"segment_bytes", "64K"}, {"udp_progress", "0"}}) {
    set = config.set(name, value).ok() && set;
  }
  auto job = Job::in_process(2, config);
  if (!set || !job) return 2;
  Endpoint& a = job->endpoint(0);
  Endpoint& b = job->endpoint(1);
  const GlobalPtr<std::uint64_t> to{1, 0};
  bool right = true;
  for (std::uint64_t turn = 0; turn < kWarm + kTurns && right; ++turn) {
    const Number from(&turn, 1);
    right = ends(a, b, [&](Event* event) {
      if (turn < kWarm)
        new (event) Event(put_nb(a, to, from));
      else
        count_put(a, to, from, event);
    });
    right = right && *reinterpret_cast<const std::uint64_t*>(b.segment().data()) == turn;
  }
  std::cout << kTurns << "\n";  // how many puts are counted
  return right && job->finish().ok() ? 0 : 1;
}
