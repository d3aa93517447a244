#include "tools/aqperf/raw/raw_yield.hpp"

#include <atomic>
#include <memory>

#include <sched.h>

namespace aqueduct::perf {

Raw raw_yield(Session& session) {
  std::uint64_t* place = session.ep().local(session.line(0, Session::Line::token));
  if (!session.everyone(place != nullptr))
    return {std::nullopt, "none: the token's memory is not mapped here"};
  // The token counts hops and keeps its value between subjects, so rank 0 tells all ranks its value at the start.
  const std::uint64_t stood = session.share(std::atomic_ref(*place).load(std::memory_order_acquire));
  auto next = std::make_shared<std::uint64_t>(stood + session.rank());
  const std::uint64_t ranks = session.ranks();
  const auto go_round = [place, next, ranks](std::uint64_t rounds) {
    std::atomic_ref<std::uint64_t> token(*place);
    for (; rounds > 0; --rounds) {
      while (token.load(std::memory_order_acquire) != *next) sched_yield();
      token.store(*next + 1, std::memory_order_release);
      *next += ranks;
    }
  };
  return {Subject{go_round, session.rank() == 0, static_cast<double>(ranks)},
          "one hop of a token passed by sched_yield"};
}

}  // namespace aqueduct::perf
