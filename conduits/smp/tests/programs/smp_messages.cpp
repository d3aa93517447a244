// The program that count_instructions.py runs under callgrind: round trips of messages between two ranks over shared
// memory, both on one thread.

#include <aqueduct/aqueduct.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <utility>

using namespace aqueduct;

namespace {

constexpr int kTurns = 1000;
constexpr int kWarm = 100;  // not counted: neighbours are looked up, rings touched

struct Wants {
  std::uint32_t messages;
};
using Payload = std::array<std::byte, 512>;

}  // namespace

// The script looks for these names. A tail call would leave the counted function, and equal functions would become one:
// the different comments prevent both.
extern "C" {
[[gnu::noinline]] bool count_request(Endpoint& from, ShortRequest<Wants> handler) {
  const bool sent = request(from, 1, handler, {1}).ok();
  asm volatile("# request" ::: "memory");
  return sent;
}
/// The handler runs, and replies.
[[gnu::noinline]] int count_handle(Endpoint& at) {
  const int found = at.progress();
  asm volatile("# handle" ::: "memory");
  return found;
}
/// The handler of the reply runs.
[[gnu::noinline]] int count_answer(Endpoint& at) {
  const int found = at.progress();
  asm volatile("# answer" ::: "memory");
  return found;
}
/// A round of progress that finds nothing.
[[gnu::noinline]] int count_nothing(Endpoint& at) {
  const int found = at.progress();
  asm volatile("# nothing" ::: "memory");
  return found;
}
[[gnu::noinline]] bool count_medium_request(Endpoint& from, MediumRequest<Wants> handler,
                                            const Payload& payload) {
  const bool sent = request(from, 1, handler, {1}, payload).ok();
  asm volatile("# medium request" ::: "memory");
  return sent;
}
[[gnu::noinline]] int count_medium_handle(Endpoint& at) {
  const int found = at.progress();
  asm volatile("# medium handle" ::: "memory");
  return found;
}
}

int main() {
  Config config = Config::from_variables({});
  bool set = true;
  for (const auto& [name, value] : {std::pair{"near", "on"}, {"segment_bytes", "64K"}}) {
    set = config.set(name, value).ok() && set;
  }
  auto job = Job::in_process(2, config);
  if (!set || !job) return 2;
  Endpoint& a = job->endpoint(0);
  Endpoint& b = job->endpoint(1);
  int answers = 0;
  ShortReply<NoArguments> answer;
  ShortRequest<Wants> ask;
  MediumRequest<Wants> give;
  for (Endpoint* ep : {&a, &b}) {
    answer = *on_short_reply<NoArguments>(*ep, [&](auto&, const auto&) { ++answers; });
    ask = *on_short_request<Wants>(*ep, [&](auto& context, const Wants& wants) {
      if (wants.messages == 1) static_cast<void>(context.reply(answer));
    });
    give = *on_medium_request<Wants>(*ep, [&](auto& context, const Wants& wants, std::span<std::byte>) {
      if (wants.messages == 1) static_cast<void>(context.reply(answer));
    });
  }
  const Payload payload{};
  bool right = true;
  const auto round_trip = [&](auto send, auto handle, auto take) {
    right = send() && handle(b) == 1 && take(a) == 1 && right;
  };
  const auto progress = [](Endpoint& ep) { return ep.progress(); };
  for (int turn = 0; turn < kWarm; ++turn) {
    round_trip([&] { return request(a, 1, ask, {1}).ok(); }, progress, progress);
    round_trip([&] { return request(a, 1, give, {1}, payload).ok(); }, progress, progress);
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    round_trip([&] { return count_request(a, ask); }, count_handle, count_answer);
    round_trip([&] { return count_medium_request(a, give, payload); }, count_medium_handle, progress);
    right = count_nothing(b) == 0 && right;
  }
  right = right && answers == 2 * (kWarm + kTurns);
  std::cout << kTurns << "\n";  // how often each counted function was called
  return job->finish().ok() && right ? 0 : 1;
}
