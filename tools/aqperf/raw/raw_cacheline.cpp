#include "tools/aqperf/raw/raw_cacheline.hpp"

#include "tools/aqperf/raw/raw_network.hpp"
#include "tools/aqperf/raw/raw_sockets.hpp"
#include "tools/aqperf/raw/raw_yield.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

namespace aqueduct::perf {

CacheLinePingPong::CacheLinePingPong(Session& session, Role role)
    : role_(role), patience_(session, Patience::kLooks) {
  using Line = Session::Line;
  auto& ep = session.ep();
  mine_ = ep.local(session.line(session.rank(), Line::ping_pong));
  turns_ = ep.local(session.line(session.rank(), Line::turns));
  if (role.peer != kNoRank) theirs_ = ep.local(session.line(role.peer, Line::ping_pong));
  const bool reachable = role.peer == kNoRank || (theirs_ != nullptr && role.peer != session.rank());
  usable_ = session.everyone(reachable && !session.crowded());
}

void CacheLinePingPong::run(std::uint64_t turns) noexcept {
  if (role_.peer == kNoRank) return;
  std::atomic_ref<std::uint64_t> mine(*mine_), theirs(*theirs_);
  std::uint64_t turn = *turns_;
  for (const std::uint64_t last = turn + turns; turn < last;) {
    ++turn;
    const auto arrived = [&] { return mine.load(std::memory_order_acquire) == turn; };
    if (role_.active) theirs.store(turn, std::memory_order_release);
    patience_.until(arrived);
    if (!role_.active) theirs.store(turn, std::memory_order_release);
  }
  *turns_ = turn;
}

std::optional<double> CacheLinePingPong::probe(Session& session) {
  if (!usable_) return std::nullopt;
  constexpr std::uint64_t kTurns = 1000;
  std::array<double, 5> samples{};
  for (double& sample : samples) {
    const auto begin = std::chrono::steady_clock::now();
    run(kTurns);
    sample =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kTurns;
  }
  return session.share(median(samples));
}

Raw raw_cacheline(Session& session, Role role) {
  auto lines = std::make_shared<CacheLinePingPong>(session, role);
  if (!lines->usable()) return {std::nullopt, "none: the peer's memory is not mapped here"};
  Subject subject{[lines](std::uint64_t batch) { lines->run(batch); }, role.active};
  return {std::move(subject), "ping-pong over two cache lines"};
}

Raw raw_answer(Session& session, Role role, std::size_t bytes) {
  const NetworkTurn turn{.kind = NetworkTurn::Kind::answer, .bytes = bytes};
  if (auto network = raw_network(session, role, turn)) return *std::move(network);
  if (over_sockets(session, role)) return raw_round_trip(session, role, bytes, bytes);
  return session.everyone(!session.crowded()) ? raw_cacheline(session, role) : raw_yield(session);
}

}  // namespace aqueduct::perf
