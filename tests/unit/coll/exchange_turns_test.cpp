// A call of a team that was given up, as members were in an operation where others were in an exchange: the news of it comes
// before a member's exchange begins, while it waits in it, or after others have gone on. Each order is made by hand.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/agreement_wire.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/exchange.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace aqueduct::coll {
namespace {

constexpr std::chrono::seconds kSoon{20};
constexpr unsigned kAlarmSeconds = 300;  ///< ends a test in which members wait for one another

/// What a member does, and when it hears of the exchange that is given up.
enum class Part : char {
  finder = 'f',       ///< in an operation; it has found the difference
  late_news = 'o',    ///< in an operation; told that it differs; hears it while it waits in its next exchange
  last_news = 'l',    ///< as before, when those in the exchange have gone on
  in_exchange = 'x',  ///< in the exchange when the news comes
  told_last = 'y',    ///< in the exchange; the news comes when others that were in it have gone on
  told_before = 'b',  ///< makes the call of the exchange when the news is there
};
constexpr std::array<Part, 6> kParts{Part::finder,      Part::late_news, Part::last_news,
                                     Part::in_exchange, Part::told_last, Part::told_before};
bool was_in_operation(Part part) noexcept {
  return part == Part::finder || part == Part::late_news || part == Part::last_news;
}

class GivenUpExchange : public testing::Test {
 protected:
  void SetUp() override { ::alarm(kAlarmSeconds); }
  void TearDown() override {
    job_.reset();
    ::alarm(0);
  }
  void start(Rank ranks) { support::start_over_loop(job_, ranks); }
  static Exchanges& of(Endpoint& ep) { return ep.state().barriers->exchanges(); }
  static TeamEngine& engine(Team& team) { return *Collectives::engine_of(team.state()); }
  /// A member's bytes for its exchange with that name.
  static Blob given(const char* name, Rank index) {
    const std::string text = name + std::to_string(index);
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    return Blob(begin, begin + text.size());
  }

  /// The rank hears of another one's call in its next progress.
  static void tell(Endpoint& from, Rank to, const AbortedCall& news) {
    const core::Post post = from.state().messages->try_request(to, AmCategory::short_request, am::kCollAbort,
                                                               {&news, sizeof news, 0}, nullptr, {}, 0);
    EXPECT_TRUE(post.kind == core::Post::Kind::done || post.kind == core::Post::Kind::posted);
  }
  /// News that the calls of the members differ from there on.
  static AbortedCall differs(const AbortedCall& given_up) {
    return {given_up.team, given_up.number, forgotten_call()};
  }
  static void hear_of(Endpoint& ep, Team& team, std::uint64_t given_up) {
    while (barrier_of(team.state())->given_up != given_up) ep.progress();
  }

  void play(const std::vector<Part>& parts);

  std::optional<Job> job_;
};

/// One member's side of all that happens to a new team. The members meet between the steps without progress of their own.
void GivenUpExchange::play(const std::vector<Part>& parts) {
  const auto ranks = static_cast<Rank>(parts.size());
  std::barrier<> meet(ranks);
  Rank tells = 0;  // one that is in the exchange, and goes on first
  while (parts[tells] != Part::in_exchange) ++tells;
  job_->run_each([&](Endpoint& ep) {
    const Rank me = ep.rank();
    const Rank other = (me + 1) % ranks;
    const Part part = parts[me];
    auto made = ep.world().dup();
    ASSERT_TRUE(made);
    Team& team = *made;
    Exchanges& exchanges = of(ep);
    const std::uint64_t id = team.state().id;
    const std::uint64_t number = exchanges.begun(id) + 1;
    const AbortedCall given_up{id, engine(team).calls() + 1, set_up_call(number)};
    std::uint64_t word = 1;
    Event operation;
    if (was_in_operation(part)) operation = all_reduce_nb(team, std::span(&word, 1), ReduceOp::sum);
    meet.arrive_and_wait();
    const Part of_other = parts[other];
    if (was_in_operation(of_other)) tell(ep, other, differs(given_up));
    if (of_other == Part::finder || of_other == Part::told_before) tell(ep, other, given_up);
    meet.arrive_and_wait();
    if (was_in_operation(part)) {
      EXPECT_EQ(ep.wait_for(operation, kSoon).code(), ErrorCode::mismatch);
    }
    if (part == Part::finder || part == Part::told_before) hear_of(ep, team, number);
    meet.arrive_and_wait();
    if (of_other == Part::late_news || of_other == Part::in_exchange) tell(ep, other, given_up);
    meet.arrive_and_wait();
    if (!was_in_operation(part)) {
      EXPECT_EQ(exchanges.exchange(team.state(), SetUp::team, given("first ", me)).status().code(),
                ErrorCode::mismatch);
      EXPECT_EQ(exchanges.begun(id), number);
      EXPECT_EQ(exchanges.agree(team.state(), {}).code(), ErrorCode::mismatch)
          << "a further part of the call";
      EXPECT_EQ(exchanges.begun(id), number);
      for (Rank to = 0; me == tells && to < ranks; ++to) {
        if (to != me) tell(ep, to, given_up);
      }
      if (me % 2 == 0) {
        EXPECT_EQ(all_reduce(team, std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
      }
    }
    const auto all = exchanges.exchange(team.state(), SetUp::team, given("next ", me));
    EXPECT_TRUE(all) << all.status().text();
    for (Rank i = 0; all && i < ranks; ++i) {
      EXPECT_EQ(Blob((*all)[i].begin(), (*all)[i].end()), given("next ", i)) << "of rank " << i;
    }
    EXPECT_TRUE(exchanges.agree(team.state(), {}));
    EXPECT_EQ(exchanges.begun(id), number + 2);
    EXPECT_EQ(all_reduce(team, std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
    auto next = team.dup();
    ASSERT_TRUE(next);
    std::uint64_t sum = 1;
    EXPECT_TRUE(all_reduce(*next, std::span(&sum, 1), ReduceOp::sum));
    EXPECT_EQ(sum, ranks);
    EXPECT_TRUE(next->end());
    EXPECT_TRUE(team.end());
    EXPECT_TRUE(ep.barrier());
    EXPECT_EQ(exchanges.kept(), 0u);
  });
}

// All parts of 2 to 4 members, the first of which is the root of the exchange's tree.
TEST_F(GivenUpExchange, EndsForThoseInItAndLeavesTheirNextCallsInStep) {
  std::size_t played = 0;
  for (Rank ranks = 2; ranks <= 4; ++ranks) {
    ASSERT_NO_FATAL_FAILURE(start(ranks));
    std::size_t orders = 1;
    for (Rank i = 0; i < ranks; ++i) orders *= kParts.size();
    for (std::size_t order = 0; order < orders; ++order) {
      std::vector<Part> parts;
      std::string text;
      for (std::size_t rest = order; parts.size() < ranks; rest /= kParts.size()) {
        parts.push_back(kParts[rest % kParts.size()]);
        text += static_cast<char>(parts.back());
      }
      if (text.find('f') == text.npos || text.find('x') == text.npos) continue;
      SCOPED_TRACE(text);
      ASSERT_NO_FATAL_FAILURE(play(parts));
      if (HasFailure()) FAIL() << "at " << text;
      ++played;
    }
    job_.reset();
  }
  EXPECT_EQ(played, 2u + 30u + 302u);
}

// A member that waits in an operation, and has not heard of anything, asks one that is in its next exchange: it must not give that up.
TEST_F(GivenUpExchange, IsTheAnswerOfAMemberInItsNextCall) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  std::barrier<> meet(2);
  job_->run_each([&](Endpoint& ep) {
    Exchanges& exchanges = of(ep);
    TeamState& world = ep.world().state();
    const std::uint64_t number = exchanges.begun(world.id) + 1;
    std::vector<std::uint64_t> seen;
    const auto look = on_short_request<NoArguments>(
        ep, [&](auto&, const NoArguments&) { seen.push_back(exchanges.under_way(world.id)); });
    ASSERT_TRUE(look && ep.barrier());
    EXPECT_EQ(exchanges.under_way(world.id), 0u);
    const AbortedCall given_up{world.id, engine(ep.world()).calls() + 1, set_up_call(number)};
    if (ep.rank() == 1) tell(ep, 0, differs(given_up));
    tell(ep, 1 - ep.rank(), given_up);
    hear_of(ep, ep.world(), number);
    if (ep.rank() == 0) {
      std::uint64_t word = 1;
      EXPECT_EQ(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
    }
    meet.arrive_and_wait();
    if (ep.rank() == 0) {
      ASSERT_TRUE(request(ep, 1, *look));
    }
    meet.arrive_and_wait();
    if (ep.rank() == 1) {
      EXPECT_EQ(exchanges.exchange(world, SetUp::team, {}).status().code(), ErrorCode::mismatch);
    }
    EXPECT_TRUE(exchanges.exchange(world, SetUp::team, {}));
    EXPECT_TRUE(exchanges.agree(world, {}));
    EXPECT_EQ(exchanges.begun(world.id), number + 2);
    EXPECT_EQ(seen, std::vector<std::uint64_t>(ep.rank() == 1 ? 1 : 0, number));
  });
}

// It would wait for members that take no part in it, or let it end well on others that have not heard of anything.
TEST_F(GivenUpExchange, LeavesNoOperationThatWaits) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Endpoint& ep = job_->endpoint(1);
  TeamState& world = ep.world().state();
  tell(job_->endpoint(0), 1, {world.id, 1, set_up_call(of(ep).begun(world.id) + 1)});
  EXPECT_EQ(of(ep).exchange(world, SetUp::team, {}).status(), Status(ErrorCode::mismatch, 0));
  std::uint64_t word = 1;
  Event operation = all_reduce_nb(ep.world(), std::span(&word, 1), ReduceOp::sum);
  ASSERT_TRUE(operation.done());
  EXPECT_EQ(operation.status().code(), ErrorCode::mismatch);
}

// The rank that has found the difference dies before it has told all: whoever waits in the exchange hears of the loss.
TEST_F(GivenUpExchange, OfWhichNobodyTellsEndsWithTheLoss) {
  for (const bool was_told_of_operation : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(start(3));
    Endpoint& ep = job_->endpoint(1);
    TeamState& world = ep.world().state();
    const std::uint64_t number = of(ep).begun(world.id) + 1;
    const AbortedCall given_up{world.id, 1, set_up_call(number)};
    if (was_told_of_operation) {
      std::uint64_t word = 1;
      Event operation = all_reduce_nb(ep.world(), std::span(&word, 1), ReduceOp::sum);
      tell(job_->endpoint(0), 1, differs({world.id, engine(ep.world()).calls(), {}}));
      EXPECT_EQ(ep.wait_for(operation, kSoon).code(), ErrorCode::mismatch);
      tell(job_->endpoint(0), 1,
           given_up);  // it begins again with the next number, in which the other never is
    }
    const auto lose =
        on_short_request<NoArguments>(ep, [&](auto&, const NoArguments&) { ep.state().peer_lost(2); });
    const auto same = on_short_request<NoArguments>(job_->endpoint(0), [](auto&, const NoArguments&) {});
    ASSERT_TRUE(lose && same);
    ASSERT_TRUE(request(job_->endpoint(0), 1, *same));
    EXPECT_EQ(of(ep).exchange(world, SetUp::team, {}).status(), Status(ErrorCode::peer_lost, 2));
    job_.reset();
  }
}

}  // namespace
}  // namespace aqueduct::coll
