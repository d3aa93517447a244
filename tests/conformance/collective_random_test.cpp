#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <deque>
#include <optional>
#include <variant>

namespace aqueduct::conformance {
namespace {

/// Random programs of collective calls on random teams, compared with the naive model. A failure names the seed; --seed
/// plays the same program again.
class RandomCollectives : public FabricTest {};

constexpr std::size_t kBatch = 6;  // calls that may be in flight

/// What the ranks derive from the seed alone. All of them see all calls, and make those of their teams.
struct CollectiveProgram {
  Rank ranks;
  std::uint64_t seed;
  std::uint64_t most_bytes;  ///< of a buffer
};

/// Random teams: for each the ranks in team order. The first one is that of all ranks.
std::vector<std::vector<Rank>> random_teams(Random& random, Rank ranks) {
  std::vector<std::vector<Rank>> teams(1);
  for (Rank rank = 0; rank < ranks; ++rank) teams[0].push_back(rank);
  while (teams.size() < 5) {
    std::vector<Rank> team = teams[0];
    for (std::size_t i = team.size(); i > 1; --i) std::swap(team[i - 1], team[random.below(i)]);
    team.resize(1 + random.below(ranks));
    teams.push_back(team);
  }
  return teams;
}

CollectiveCall random_call(Random& random, Rank members, std::uint64_t most_bytes, std::size_t element) {
  constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::min, ReduceOp::max};
  CollectiveCall call;
  call.operation = kCollectives[random.below(kCollectives.size())];
  const std::uint64_t blocks =
      std::max(blocks_in(call.operation, members), blocks_out(call.operation, members));
  call.count = std::min(random.any_magnitude(14), most_bytes / (blocks * element));
  call.root = static_cast<Rank>(random.below(members));
  call.reducer = kOps[random.below(std::size(kOps))];
  call.options.in = kSyncs[random.below(3)];
  call.options.out = kSyncs[random.below(3)];
  constexpr ReduceOrder kOrders[] = {ReduceOrder::any, ReduceOrder::any, ReduceOrder::same_everywhere,
                                     ReduceOrder::exact};
  call.options.order = kOrders[random.below(std::size(kOrders))];
  call.in_place = has_place(call.operation) && random.below(2) == 0;
  call.place = kCollPlaces[random.below(kCollPlaces.size())];
  call.form = kCollForms[random.below(kCollForms.size())];
  return call;
}

using AnyTrial = std::variant<CollTrial<std::uint8_t>, CollTrial<std::int32_t>, CollTrial<double>>;

/// A call of this rank that has begun.
struct Pending {
  Team* team;
  CollectiveCall call;
  AnyTrial trial;
  Event event;
};

class CollectivePlayer {
 public:
  CollectivePlayer(Endpoint& me, const CollectiveProgram& program)
      : me_(me), program_(program), random_(program.seed), own_(~program.seed + me.rank()) {}

  void play(std::uint64_t batches) {
    for (std::size_t i = 0; i < kBatch; ++i)
      ASSERT_TRUE(memories_.emplace_back(me_.world(), program_.most_bytes).ok());
    ranks_of_ = random_teams(random_, me_.ranks());
    for (std::uint64_t i = 1; i < ranks_of_.size(); ++i) {
      if (std::ranges::count(ranks_of_[i], me_.rank()) == 0) {
        teams_.emplace_back();
        continue;
      }
      auto made = Team::create(me_, ranks_of_[i], i);
      ASSERT_TRUE(made) << made.status().text();
      teams_.emplace_back(*std::move(made));
    }
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      SCOPED_TRACE("seed " + std::to_string(program_.seed) + ", batch " + std::to_string(batch));
      ASSERT_NO_FATAL_FAILURE(begin_batch());
      ASSERT_NO_FATAL_FAILURE(end_batch());
    }
    for (auto& team : teams_) {
      if (team) {
        ASSERT_TRUE(team->end());
      }
    }
    for (CollMemory& memory : memories_) ASSERT_TRUE(memory.release());
  }

 private:
  Team* team(std::size_t which) {
    if (which == 0) return &me_.world();
    return teams_[which - 1] ? &*teams_[which - 1] : nullptr;
  }

  void begin_batch() {
    for (std::size_t slot = 0; slot < kBatch; ++slot) {
      const std::size_t which = random_.below(ranks_of_.size());
      const std::size_t type = random_.below(3);
      constexpr std::size_t kElements[] = {1, 4, 8};
      const auto members = static_cast<Rank>(ranks_of_[which].size());
      const CollectiveCall call = random_call(random_, members, program_.most_bytes, kElements[type]);
      ++number_;
      if (team(which) == nullptr) continue;
      Pending& pending = add(slot, *team(which), call, type);
      if (call.options.in == Sync::none) {
        ASSERT_TRUE(pending.team->barrier()) << text_of(call);
      }
      pending.event = std::visit([](auto& trial) { return trial.begin(); }, pending.trial);
      if (own_.below(3) == 0) me_.progress();
    }
  }
  Pending& add(std::size_t slot, Team& team, const CollectiveCall& call, std::size_t type) {
    if (type == 0) return add<std::uint8_t>(slot, team, call);
    if (type == 1) return add<std::int32_t>(slot, team, call);
    return add<double>(slot, team, call);
  }
  template <class T>
  Pending& add(std::size_t slot, Team& team, const CollectiveCall& call) {
    return pending_.emplace_back(
        Pending{&team, call, CollTrial<T>(memories_[slot], team, call, number_), Event()});
  }

  /// Waits for all calls in this rank's own order, makes all outputs final, and checks them.
  void end_batch() {
    std::vector<Pending*> order;
    for (Pending& pending : pending_) order.push_back(&pending);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[own_.below(i)]);
    for (Pending* pending : order) {
      const Status status = me_.wait(pending->event);
      ASSERT_TRUE(status) << status.text() << ": " << text_of(pending->call);
    }
    for (const Pending& pending : pending_) {
      if (pending.call.options.out == Sync::none) {
        ASSERT_TRUE(settle(*pending.team)) << text_of(pending.call);
      }
    }
    for (Pending& pending : pending_) {
      ASSERT_TRUE(std::visit([](const auto& trial) { return trial.check(); }, pending.trial));
      ASSERT_TRUE(std::visit([](auto& trial) { return trial.end(); }, pending.trial));
    }
    pending_.clear();
  }

  Endpoint& me_;
  const CollectiveProgram& program_;
  Random random_;  // the same on all ranks
  Random own_;     // this rank's, for what others need not know
  std::vector<std::vector<Rank>> ranks_of_;
  std::vector<std::optional<Team>> teams_;  // from the second on; none: not of this rank
  std::deque<CollMemory> memories_;
  std::deque<Pending> pending_;
  std::uint64_t number_ = 0;
};

/// Runs a program as the ranks of one launch.
void play_collectives(Endpoint& me, const CollectiveProgram& program, std::uint64_t batches) {
  CollectivePlayer player(me, program);
  ASSERT_NO_FATAL_FAILURE(player.play(batches));
  ASSERT_TRUE(me.barrier());
}

TEST_P(RandomCollectives, OfTwoRanksFollowTheModel) {
  as_each_of(2, 4096, [seed = seed(), batches = 30 * fabric().thorough](Endpoint& me) {
    play_collectives(me, {2, seed, reasonable(me, 32 * 1024)}, batches);
  });
}
TEST_P(RandomCollectives, OfThreeRanksFollowTheModel) {
  as_each_of(3, 4096, [seed = seed(), batches = 25 * fabric().thorough](Endpoint& me) {
    play_collectives(me, {3, seed, reasonable(me, 100 * 1024)}, batches);
  });
}
// Most calls run in pieces, and reuse the little memory that there is again and again.
TEST_P(RandomCollectives, WithLittleScratchFollowTheModel) {
  run({.ranks = 3, .segment_bytes = 4096, .settings = {{"coll_scratch", "64K"}, {"coll_counters", "4096"}}},
      [seed = seed(), batches = 15 * fabric().thorough](Endpoint& me) {
        play_collectives(me, {3, seed, reasonable(me, 16 * 1024)}, batches);
      });
}
TEST_P(RandomCollectives, OfManyRanksFollowTheModel) {
  const Rank ranks = std::max(many(), fabric().most_ranks);
  as_each_of(ranks, 4096, [ranks, seed = seed(), batches = 12 * fabric().thorough](Endpoint& me) {
    play_collectives(me, {ranks, seed, reasonable(me, 32 * 1024)}, batches);
  });
}

INSTANTIATE_TEST_SUITE_P(On, RandomCollectives, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
