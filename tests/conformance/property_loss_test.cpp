#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <algorithm>
#include <chrono>
#include <set>

namespace aqueduct::conformance {
namespace {

/// Posts packets to a rank that has left until there is no room; returns the tokens for which a completion must follow.
std::set<core::Token> post_to_nobody(ConduitBench& bench, Rank from, Rank gone,
                                     std::span<const std::byte> payload) {
  const std::uint64_t header = 1;
  std::set<core::Token> posted;
  for (core::Token token = 1000; token < 1020; ++token) {
    const core::Post post =
        bench.conduit(from).send(gone, std::as_bytes(std::span(&header, 1)), payload, token);
    if (post.kind == core::Post::Kind::posted) posted.insert(token);
    if (post.kind == core::Post::Kind::failed) {
      EXPECT_EQ(post.why, ErrorCode::peer_lost);
    }
  }
  return posted;
}

bool all_over(ConduitBench& bench, const std::set<core::Token>& posted) {
  const auto& completions = bench.inbox(0).completions;
  return std::ranges::all_of(posted, [&](core::Token token) { return completions.contains(token); });
}

/// What was posted to the lost rank has ended once, with peer_lost or because it had left before; ranks 0 and 1 go on.
void expect_others_go_on(ConduitBench& bench, const std::set<core::Token>& posted) {
  ASSERT_TRUE(bench.poll_until([&] { return all_over(bench, posted); })) << "completions are missing";
  for (int i = 0; i < 100; ++i) bench.poll();
  for (const core::Token token : posted) EXPECT_EQ(bench.inbox(0).completions[token], 1);
  for (const Status& failure : bench.inbox(0).failures) EXPECT_EQ(failure.code(), ErrorCode::peer_lost);
  const std::size_t before = bench.inbox(1).packets.size();
  for (std::uint64_t number = 1; number <= 20; ++number) send_number(bench, 0, 1, number, 2000 + number);
  EXPECT_TRUE(bench.poll_until([&] { return bench.inbox(1).packets.size() == before + 20; }))
      << "packets between the remaining ranks are missing";
}

TEST_P(Property, APeerThatLeavesIsReportedOnceAfterItsPackets) {
  on_bench(3, [](ConduitBench& bench) {
    if (!bench.conduit(0).properties().reports_lost_peers) return;  // the launcher reports it
    ASSERT_TRUE(meet(bench));
    for (std::uint64_t number = 1; number <= 10; ++number) {
      for (const Rank to : {0u, 1u}) send_number(bench, 2, to, number, 2 * number + to);
    }
    ASSERT_TRUE(bench.poll_until(
        [&] { return bench.inbox(0).packets.size() == 10 && bench.inbox(1).packets.size() == 10; }));
    bench.close(2);
    const std::vector<std::byte> payload(64);
    const auto posted = post_to_nobody(bench, 0, 2, payload);
    // A conduit may learn of a loss only from what it posts.
    post_to_nobody(bench, 1, 2, payload);
    auto next_check = std::chrono::steady_clock::now();
    ASSERT_TRUE(bench.poll_until([&] {
      if (const auto now = std::chrono::steady_clock::now(); now >= next_check) {
        next_check = now + std::chrono::milliseconds(20);
        for (const Rank rank : {0u, 1u}) bench.conduit(rank).check_peers(bench.inbox(rank));
      }
      return !bench.inbox(0).losses.empty() && !bench.inbox(1).losses.empty();
    })) << "nobody noticed that rank 2 left";
    ASSERT_NO_FATAL_FAILURE(expect_others_go_on(bench, posted));
    for (const Rank rank : {0u, 1u}) {
      bench.conduit(rank).check_peers(bench.inbox(rank));
      EXPECT_EQ(bench.inbox(rank).losses, std::vector<Rank>{2}) << "reported to rank " << rank;
      EXPECT_EQ(bench.inbox(rank).late, 0) << "packets after the report";
    }
  });
}

TEST_P(Property, APeerThatIsForgottenEndsWhatWasPostedToIt) {
  on_bench(3, [](ConduitBench& bench) {
    ASSERT_TRUE(meet(bench));
    bench.close(2);
    const std::vector<std::byte> payload(64);
    const auto posted = post_to_nobody(bench, 0, 2, payload);
    for (const Rank rank : {0u, 1u}) bench.conduit(rank).forget(2);  // as the launcher says
    expect_others_go_on(bench, posted);
  });
}

}  // namespace
}  // namespace aqueduct::conformance
