#include "tests/conformance/pattern.hpp"
#include "tests/conformance/property.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace aqueduct::conformance {
namespace {

void add_longs(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, static_cast<const std::byte*>(left) + i * sizeof a, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(right) + i * sizeof b, sizeof b);
    a += b;
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof a, &a, sizeof a);
  }
}

/// A team of all ranks of a bench, and a buffer of `count` words of each rank for each block that goes in or comes out.
class ConduitTeams {
 public:
  ConduitTeams(ConduitBench& bench, std::uint64_t id) : bench_(bench), teams_(bench.ranks()) {
    std::vector<Rank> members(bench.ranks());
    std::iota(members.begin(), members.end(), Rank{0});
    for (const Rank rank : members) {
      core::NativeCollectives* const collectives = bench.conduit(rank).collectives();
      if (collectives != nullptr && collectives->offer() != 0)
        teams_[rank] = collectives->make_team(id, members);
    }
  }
  /// All members have one, or none.
  bool alike() const {
    for (const auto& team : teams_) {
      if ((team == nullptr) != (teams_[0] == nullptr)) return false;
    }
    return true;
  }
  bool any() const { return teams_[0] != nullptr; }
  core::NativeTeam& team(Rank rank) { return *teams_[rank]; }
  Rank ranks() const { return static_cast<Rank>(teams_.size()); }

  void fill(std::uint64_t count) {
    in_.assign(ranks(), std::vector<std::uint64_t>(ranks() * count));
    out_.assign(ranks(), std::vector<std::uint64_t>(ranks() * count, kBefore));
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (std::uint64_t i = 0; i < in_[rank].size(); ++i) in_[rank][i] = value(rank, i);
    }
  }
  static std::uint64_t value(Rank rank, std::uint64_t i) { return 1000 * (i + 1) + rank; }
  std::vector<std::uint64_t>& in(Rank rank) { return in_[rank]; }
  const std::vector<std::uint64_t>& out(Rank rank) const { return out_[rank]; }
  static constexpr std::uint64_t kBefore = 77;

  core::NativeShape shape_of(Collective operation, std::uint64_t count) const {
    core::NativeShape shape;
    shape.operation = operation;
    shape.root = has_a_root(operation) ? ranks() - 1 : 0;
    shape.element = sizeof(std::uint64_t);
    shape.bytes = count * sizeof(std::uint64_t);
    shape.type = ElementType::u64;
    return shape;
  }
  static bool has_a_root(Collective operation) {
    return operation == Collective::broadcast || operation == Collective::scatter ||
           operation == Collective::gather || operation == Collective::reduce;
  }
  core::Post start(Rank rank, const core::NativeShape& shape, std::uint64_t number, core::Token token,
                   std::uint32_t mark = 5) {
    core::NativeCall call;
    call.shape = shape;
    call.number = number;
    call.mark = mark;
    const bool root = rank == shape.root;
    const bool reads =
        root || (shape.operation != Collective::broadcast && shape.operation != Collective::scatter);
    const bool writes =
        root || (shape.operation != Collective::gather && shape.operation != Collective::reduce);
    call.in = reads ? reinterpret_cast<const std::byte*>(in_[rank].data()) : nullptr;
    call.out = writes ? reinterpret_cast<std::byte*>(out_[rank].data()) : nullptr;
    call.combine = add_longs;
    return bench_.insist([&] { return team(rank).start(call, token); });
  }

 private:
  ConduitBench& bench_;
  std::vector<std::unique_ptr<core::NativeTeam>> teams_;
  std::vector<std::vector<std::uint64_t>> in_, out_;
};

/// Word i of what a member gets; kBefore if nothing is written there.
std::uint64_t collected_word(const core::NativeShape& shape, Rank ranks, Rank me, std::uint64_t i) {
  const std::uint64_t count = shape.bytes / sizeof(std::uint64_t);
  const std::uint64_t block = i / count;
  const std::uint64_t word = i % count;
  const auto value = ConduitTeams::value;
  const auto sum = [&](Rank end, std::uint64_t at) {
    std::uint64_t all = 0;
    for (Rank rank = 0; rank < end; ++rank) all += value(rank, at);
    return all;
  };
  const bool first = block == 0;
  switch (shape.operation) {
    case Collective::broadcast: return first ? value(shape.root, word) : ConduitTeams::kBefore;
    case Collective::scatter: return first ? value(shape.root, me * count + word) : ConduitTeams::kBefore;
    case Collective::gather:
      return me == shape.root ? value(static_cast<Rank>(block), word) : ConduitTeams::kBefore;
    case Collective::all_gather: return value(static_cast<Rank>(block), word);
    case Collective::all_to_all: return value(static_cast<Rank>(block), me * count + word);
    case Collective::reduce: return first && me == shape.root ? sum(ranks, word) : ConduitTeams::kBefore;
    case Collective::all_reduce: return first ? sum(ranks, word) : ConduitTeams::kBefore;
    case Collective::reduce_scatter: return first ? sum(ranks, me * count + word) : ConduitTeams::kBefore;
    case Collective::scan: return first ? sum(me + 1, word) : ConduitTeams::kBefore;
    case Collective::exscan: return first && me > 0 ? sum(me, word) : ConduitTeams::kBefore;
    default: return ConduitTeams::kBefore;
  }
}

/// One operation: members start one after the other, and it ends well on all of them, after the last has started.
void play_operation(ConduitBench& bench, ConduitTeams& teams, const core::NativeShape& shape,
                    std::uint64_t number) {
  teams.fill(shape.bytes / sizeof(std::uint64_t));
  std::vector<bool> posted(teams.ranks());
  for (Rank rank = 0; rank < teams.ranks(); ++rank) {
    // The last one to start sets its input at the last moment.
    const Rank late = teams.ranks() - 1;
    if (rank == late) {
      for (std::uint64_t i = 0; i < teams.in(rank).size(); ++i)
        teams.in(rank)[i] = ConduitTeams::value(rank, i);
    } else if (rank == 0) {
      for (std::uint64_t& word : teams.in(late)) word = 1;
    }
    const core::Post post = teams.start(rank, shape, number, number);
    ASSERT_TRUE(post.kind == core::Post::Kind::posted || post.kind == core::Post::Kind::done);
    posted[rank] = post.kind == core::Post::Kind::posted;
    for (int i = 0; i < 3; ++i) bench.poll();
  }
  ASSERT_TRUE(bench.poll_until([&] {
    for (Rank rank = 0; rank < teams.ranks(); ++rank) {
      if (posted[rank] && bench.inbox(rank).completions.count(number) == 0) return false;
    }
    return true;
  })) << "operation "
      << number << " does not end";
  for (Rank rank = 0; rank < teams.ranks(); ++rank) {
    ASSERT_EQ(bench.inbox(rank).completions[number], posted[rank] ? 1 : 0) << "rank " << rank;
    ASSERT_TRUE(bench.inbox(rank).failures.empty()) << bench.inbox(rank).failures.front().text();
    const std::vector<std::uint64_t>& out = teams.out(rank);
    for (std::uint64_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], collected_word(shape, teams.ranks(), rank, i))
          << "operation " << number << " of " << shape.bytes << " bytes, rank " << rank << ", word " << i;
  }
}

TEST_P(Property, CollectivesOfTheConduitEqualTheModel) {
  for (const Rank ranks : {Rank{2}, Rank{3}, Rank{5}}) {
    on_bench(ranks, [](ConduitBench& bench) {
      ConduitTeams teams(bench, 1);
      ASSERT_TRUE(teams.alike()) << "all members have them, or none";
      if (!teams.any()) return;  // the library's
      std::uint64_t number = 0;
      for (auto operation = Collective::broadcast; operation <= Collective::exscan;
           operation = static_cast<Collective>(static_cast<int>(operation) + 1)) {
        for (const std::uint64_t count : {1u, 3u, 100u}) {
          const core::NativeShape shape = teams.shape_of(operation, count);
          const bool refused = teams.team(0).refusal(shape) != nullptr;
          for (Rank rank = 1; rank < bench.ranks(); ++rank) {
            ASSERT_EQ(teams.team(rank).refusal(shape) != nullptr, refused) << "members choose alike";
            if (!refused) {
              ASSERT_EQ(teams.team(rank).cost(shape), teams.team(0).cost(shape));
            }
          }
          if (!refused) {
            ASSERT_NO_FATAL_FAILURE(play_operation(bench, teams, shape, ++number));
          }
        }
      }
    });
  }
}

// Members that have started an operation which another one will never start.
TEST_P(Property, CollectivesOfTheConduitThatAreGivenUpEnd) {
  on_bench(3, [](ConduitBench& bench) {
    ConduitTeams teams(bench, 1);
    if (!teams.any()) return;
    const core::NativeShape shape = teams.shape_of(Collective::all_reduce, 2);
    if (teams.team(0).refusal(shape) != nullptr) return;
    teams.fill(2);
    for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{2}}) {
      for (const Rank rank : {Rank{0}, Rank{1}})
        ASSERT_EQ(teams.start(rank, shape, number, number).kind, core::Post::Kind::posted);
    }
    for (int i = 0; i < 10; ++i) bench.poll();
    for (const Rank rank : {Rank{0}, Rank{1}}) {
      ASSERT_TRUE(bench.inbox(rank).completions.empty()) << "rank 2 has not started";
      teams.team(rank).cancel(1);
    }
    EXPECT_TRUE(bench.poll_until(
        [&] { return bench.inbox(0).completions.size() == 2 && bench.inbox(1).completions.size() == 2; }));
    for (const Rank rank : {Rank{0}, Rank{1}}) {
      for (const std::uint64_t word : teams.out(rank)) EXPECT_EQ(word, ConduitTeams::kBefore);
    }
  });
}

}  // namespace
}  // namespace aqueduct::conformance
