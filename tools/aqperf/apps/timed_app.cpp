#include "tools/aqperf/apps/timed_app.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::perf {

bool TimedApp::goes_on() {
  const bool more = turns_.size() < kLeastTurns ||
                    (turns_.size() < kMostTurns && Clock::now() - started_ < session_->options().seconds);
  return session_->share(more);
}

void TimedApp::begin_turn() {
  require(session_->ep().barrier(), "barrier");
  turn_ = {};
  begun_ = Clock::now();
}

AppTurn TimedApp::end_turn_apart() {
  turn_.total = since(begun_);
  return turn_;
}

void TimedApp::end_turn() { turns_.push_back(end_turn_apart()); }

Row TimedApp::row(std::size_t bytes) {
  std::vector<std::vector<AppTurn>> of_ranks(session_->ranks());
  for (const AppTurn& turn : turns_) {
    const std::vector<AppTurn> all = session_->exchange(turn);
    for (Rank rank = 0; rank < session_->ranks(); ++rank) of_ranks[rank].push_back(all[rank]);
  }
  for (auto& turns : of_ranks) turns.erase(turns.begin());  // the first one warms up
  const std::vector<AppTurn> turns = mean_over_ranks(of_ranks);
  Samples collective;
  Row row;
  for (const AppTurn& turn : turns) {
    collective.push_back(turn.collective);
    row.longest_stall_ms = std::max(row.longest_stall_ms, turn.collective / 1e6);
  }
  const AppShares shares = shares_of(turns);
  row.bench = session_->options().bench;
  row.conduit =
      session_->ep().conduit_of(session_->ranks() > 1 ? (session_->rank() + 1) % session_->ranks() : 0);
  row.ranks = session_->ranks();
  row.bytes = bytes;
  row.figure = summarize({std::move(collective)});
  row.extra.emplace_back("total", shares.total_median);
  row.extra.emplace_back("share", shares.share);
  return row;
}

}  // namespace aqueduct::perf
