#include "tests/conformance/forced_calls.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/conformance/collective_trial.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// The map x → a x + b modulo 2^32: `left ∘ right` is right after left, which is not left after right.
struct ForcedMap {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
};
ForcedMap right_after_left(ForcedMap left, ForcedMap right) {
  return {left.a * right.a, right.a * left.b + right.b};
}
ForcedMap forced_map(Rank member, std::uint64_t i) {
  return {coll_value<std::uint32_t>(1, member, i) | 1, coll_value<std::uint32_t>(2, member, i)};
}
void combine_maps(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    ForcedMap a, b;
    std::memcpy(&a, static_cast<const ForcedMap*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const ForcedMap*>(right) + i, sizeof b);
    a = right_after_left(a, b);
    std::memcpy(static_cast<ForcedMap*>(to) + i, &a, sizeof a);
  }
}
constexpr std::uint32_t kForcedMaps = 39;  // the operator's number

/// Makes calls of one operation on one team, and judges each.
class ForcedCalls {
 public:
  ForcedCalls(Endpoint& me, Team& team, CollMemory& memory, Collective operation, const ForcedJob& job)
      : board_(board_of(team)),
        me_(me),
        team_(team),
        memory_(memory),
        operation_(operation),
        choice_(job.of(operation)),
        scans_by_hosts_(job.goes_by_hosts(Collective::scan) || job.goes_by_hosts(Collective::exscan)),
        number_((std::uint64_t{team.size()} << 20) + (static_cast<std::uint64_t>(operation) << 12)) {}

  /// `long_elements`: of 8 bytes, of the largest buffer. 0: no long calls.
  void play(std::uint64_t long_elements) {
    const Rank roots = has_root(operation_) ? team_.size() : 1;
    for (Rank root = 0; root < roots; ++root)
      ASSERT_NO_FATAL_FAILURE(make<std::int32_t>({.operation = operation_, .count = 7, .root = root}));
    // At least one call for each place of buffers.
    for (const std::uint64_t count : {0u, 1u, 1u, 21u, 21u}) {
      const Rank root = static_cast<Rank>(mix(number_) % roots);
      ASSERT_NO_FATAL_FAILURE(make<std::uint8_t>({.operation = operation_, .count = count, .root = root}));
    }
    const std::uint64_t blocks =
        std::max(blocks_in(operation_, team_.size()), blocks_out(operation_, team_.size()));
    // In all kinds of memory.
    for (std::uint64_t i = 0; i < 3 && long_elements != 0; ++i) {
      const std::uint64_t count = std::max<std::uint64_t>(long_elements / blocks, 2) - i;
      const CollectiveCall call{.operation = operation_, .count = count, .root = roots - 1};
      number_ = (number_ / kCollPlaces.size() + 1) * kCollPlaces.size() + 2 * i + 1;
      ASSERT_NO_FATAL_FAILURE(make<double>(call));
    }
    if (is_reduction(operation_)) {
      for (const bool known : {false, true})
        ASSERT_NO_FATAL_FAILURE(combine_in_order(known, static_cast<Rank>(mix(number_) % roots)));
    }
  }
  std::uint64_t carried_out() const { return carried_out_; }

 private:
  /// No slots: the team has none.
  static coll::BoardRoom board_of(Team& team) {
    coll::TeamEngine* const engine = coll::Collectives::engine_of(team.state());
    return engine != nullptr ? engine->board() : coll::BoardRoom{};
  }
  static const coll::Groups* groups_of(Team& team) {
    coll::TeamEngine* const engine = coll::Collectives::engine_of(team.state());
    return engine != nullptr ? engine->groups() : nullptr;
  }
  static const coll::TeamTree* tree_of(Team& team) {
    coll::TeamEngine* const engine = coll::Collectives::engine_of(team.state());
    return engine != nullptr ? engine->tree() : nullptr;
  }
  /// Whether the algorithm itself cannot do it. What its scratch allows is another matter.
  bool cannot(const CollectiveCall& call, std::uint32_t element, bool commutative) {
    left_to_rules_ = false;
    if (team_.size() == 1) return false;  // no algorithm runs
    coll::Shape shape;
    shape.operation = operation_;
    shape.in = call.options.in;
    shape.out = call.options.out;
    shape.order = is_reduction(operation_) ? call.options.order : ReduceOrder::any;
    shape.commutative = commutative;
    const bool known = call.place == CollPlace::on_all || call.place == CollPlace::on_each;
    shape.addresses = known ? coll::Addresses::single : coll::Addresses::local;
    shape.ranks = team_.size();
    if (choice_.algorithm->hosts) shape.groups.of = groups_of(team_);
    if (choice_.algorithm->team_tree) {
      shape.team_tree.of = tree_of(team_);
      const bool in_order = shape.order == ReduceOrder::exact || !commutative;
      left_to_rules_ = shape.team_tree.of == nullptr || (is_reduction(operation_) && in_order);
      if (left_to_rules_) return false;
    }
    if (!coll::shifts_with_root(shape)) shape.root = call.root;
    shape.element = element;
    shape.bytes = shape.pitch = call.count * element;
    for (std::size_t i = 0; i < choice_.algorithm->parameters.size(); ++i)
      shape.parameters[i] =
          choice_.parameters[i] != 0 ? choice_.parameters[i] : choice_.algorithm->parameters[i].usual;
    if (choice_.algorithm->board != coll::BoardMethod::none) {
      if (board_.slots == 0) return true;
      // What a member publishes at once must fit into its slot, of large operations some of it.
      const bool fits = coll::is_large(choice_.algorithm->board)
                            ? coll::piece_through(shape, board_) != 0
                            : coll::most_published(choice_.algorithm->board, shape) <= board_.payload();
      if (!fits) return true;
    }
    return coll::Schedule::refusal(*choice_.algorithm, shape) != nullptr;
  }
  /// Whether the call has ended as it must. `true` in the result: it was carried out.
  void judge(Status status, bool must_be_refused, const std::string& text, bool& carried) {
    carried = status.ok();
    if (must_be_refused || (!status && choice_.may_lack_counters())) {
      ASSERT_EQ(status.code(), ErrorCode::invalid_argument)
          << status.text() << ": " << choice_.setting() << " cannot do " << text;
    } else {
      ASSERT_TRUE(status) << status.text() << ": " << choice_.setting() << " on " << team_.size()
                          << " members: " << text;
    }
    if (carried && team_.size() > 1 && !left_to_rules_) ++carried_out_;
  }
  /// After Sync::none at the end: by an operation that no algorithm refuses, and that is not the one that is counted. Where
  /// scans go by hosts, they are refused on some teams.
  Status settle() {
    if (scans_by_hosts_) return team_.barrier();
    std::array<std::uint8_t, 1> word{};
    return operation_ == Collective::scan ? exscan(team_, word, ReduceOp::max)
                                          : scan(team_, word, ReduceOp::max);
  }

  /// One call, with what the number chooses.
  template <class T>
  void make(CollectiveCall call) {
    const std::uint64_t bits = mix(++number_);
    constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::min, ReduceOp::max};
    constexpr ReduceOrder kOrders[] = {ReduceOrder::any, ReduceOrder::any, ReduceOrder::same_everywhere,
                                       ReduceOrder::exact};
    call.reducer = kOps[bits % std::size(kOps)];
    call.in_place = has_place(operation_) && (bits >> 8) % 2 == 0;
    call.place = kCollPlaces[number_ % kCollPlaces.size()];
    call.form = kCollForms[(bits >> 16) % kCollForms.size()];
    call.options.in = kSyncs[(bits >> 24) % 3];
    call.options.out = kSyncs[(bits >> 32) % 3];
    call.options.order = kOrders[(bits >> 40) % std::size(kOrders)];
    CollTrial<T> trial(memory_, team_, call, number_);
    if (call.options.in == Sync::none) {
      ASSERT_TRUE(team_.barrier());
    }
    Event event = trial.begin();
    const Status status = me_.wait(event);
    bool carried = false;
    ASSERT_NO_FATAL_FAILURE(judge(status, cannot(call, sizeof(T), true), text_of(call), carried));
    if (!carried) {
      ASSERT_TRUE(trial.is_untouched()) << choice_.setting() << " has refused";
      return;
    }
    if (call.options.out == Sync::none) {
      ASSERT_TRUE(settle()) << text_of(call);
    }
    ASSERT_TRUE(trial.check()) << choice_.setting();
    ASSERT_TRUE(trial.end()) << choice_.setting();
  }

  /// An operator that is not commutative. `known`: all members know where the buffers are.
  void combine_in_order(bool known, Rank root) {
    const std::uint64_t count = 5;
    CollectiveCall call{
        .operation = operation_, .count = count, .root = root, .reducer = Reducer::user(kForcedMaps)};
    call.place = known ? CollPlace::on_all : CollPlace::segment;
    call.options.order = mix(++number_) % 2 == 0 ? ReduceOrder::exact : ReduceOrder::any;
    const std::uint64_t in_count = count * blocks_in(operation_, team_.size());
    auto* const from = reinterpret_cast<ForcedMap*>(memory_.at(/*in_segment=*/true, 0, 0));
    auto* const to = reinterpret_cast<ForcedMap*>(memory_.at(/*in_segment=*/true, 1, 0));
    for (std::uint64_t i = 0; i < in_count; ++i) from[i] = forced_map(team_.index(), i);
    std::fill_n(to, count, ForcedMap{});
    const std::vector<ForcedMap> before(count);
    const auto expected =
        coll_result<ForcedMap>(call, team_.size(), team_.index(), forced_map, right_after_left, before);
    Status status;
    if (known) {
      const std::uint64_t unit = sizeof(ForcedMap);
      OnAll<ForcedMap> in = on_all<ForcedMap>(memory_.segment(), memory_.offset(0, 0) / unit, in_count);
      OnAll<ForcedMap> out = on_all<ForcedMap>(memory_.segment(), memory_.offset(1, 0) / unit, count);
      status = coll_call<BlockingCalls>(team_, call, in, out);
    } else {
      std::span<const ForcedMap> in(from, in_count);
      std::span<ForcedMap> out(to, count);
      status = coll_call<BlockingCalls>(team_, call, in, out);
    }
    bool carried = false;
    ASSERT_NO_FATAL_FAILURE(judge(status, cannot(call, sizeof(ForcedMap), false), text_of(call), carried));
    const std::vector<ForcedMap>& right = carried ? expected : before;
    ASSERT_TRUE(holds(std::as_bytes(std::span(to, count)), std::as_bytes(std::span(right))))
        << choice_.setting() << ", member " << team_.index() << " of " << team_.size() << ": "
        << text_of(call);
  }

  coll::BoardRoom board_;
  Endpoint& me_;
  Team& team_;
  CollMemory& memory_;
  Collective operation_;
  const ForcedChoice& choice_;
  bool scans_by_hosts_;
  std::uint64_t number_;  // of the call, the same on all members
  std::uint64_t carried_out_ = 0;
  bool left_to_rules_ = false;  ///< the last call: the rules choose, though a setting names the algorithm
};

/// How often this rank has begun an operation with the algorithm.
std::uint64_t uses_of(Endpoint& me, const coll::Algorithm& algorithm) {
  const std::string name =
      std::string(coll::operation_word(algorithm.operation)) + '_' + std::string(algorithm.name);
  for (const StatisticsRow& row : me.statistics_rows()) {
    if (row.name == name) return *row.counter;
  }
  ADD_FAILURE() << "there is no row " << name;
  return 0;
}

/// Plays all operations that the job forces on a team of this many ranks: the last ones, in reverse order.
void play_on_team(Endpoint& me, CollMemory& memory, const ForcedJob& job, Rank size, std::uint64_t elements,
                  std::array<std::uint64_t, kForcedOperations>& carried_out) {
  const bool member = me.rank() + size >= me.ranks();
  auto team =
      me.world().split(member ? std::optional<std::uint32_t>(1) : std::nullopt, -std::int64_t{me.rank()});
  ASSERT_TRUE(team) << team.status().text();
  if (!member) return;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE((*team)->barrier());
    ASSERT_TRUE(me.wait((*team)->barrier_nb(size)));
  }
  for (const Collective operation : kCollectives) {
    const ForcedChoice& choice = job.of(operation);
    if (choice.algorithm == nullptr) continue;
    const std::uint64_t before = uses_of(me, *choice.algorithm);
    ForcedCalls calls(me, **team, memory, operation, job);
    // Long ones in small scratch are cut into many pieces: not on every team.
    ASSERT_NO_FATAL_FAILURE(calls.play(size == 3 || size == me.ranks() ? elements : 0));
    EXPECT_EQ(uses_of(me, *choice.algorithm) - before, calls.carried_out())
        << choice.setting() << " on " << size << " members";
    carried_out[static_cast<std::size_t>(operation)] += calls.carried_out();
  }
  ASSERT_TRUE((*team)->end());
}

}  // namespace

void play_forced_job(Endpoint& me, const ForcedJob& job) {
  // More than a bank of the little scratch has.
  const std::uint64_t elements = reasonable(me, 16384 + 8) / 8;
  CollMemory memory(me.world(), std::max<std::uint64_t>(elements, 32 * me.ranks()) * 8);
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(add_operator(me, kForcedMaps, {combine_maps, nullptr, sizeof(ForcedMap), false}));
  std::array<std::uint64_t, kForcedOperations> carried_out{};
  for (Rank size = 1; size <= me.ranks(); ++size)
    ASSERT_NO_FATAL_FAILURE(play_on_team(me, memory, job, size, elements, carried_out));
  for (const Collective operation : kCollectives) {
    if (job.of(operation).algorithm == nullptr || me.ranks() == 1) continue;
    // Every algorithm works on two members, and they are the last two ranks.
    const bool board = job.of(operation).algorithm->board != coll::BoardMethod::none;
    if (board && coll::Collectives::engine_of(me.world().state())->board().slots == 0) continue;
    // Those that go by hosts need hosts of several members. The team of all has them, if any team has; the radix may not fit.
    if (job.of(operation).algorithm->hosts) continue;
    // Those that go by the team's tree need the setting.
    if (job.of(operation).algorithm->team_tree) continue;
    EXPECT_TRUE(carried_out[static_cast<std::size_t>(operation)] > 0 || me.rank() + 2 < me.ranks())
        << job.of(operation).setting() << " has refused all";
  }
  ASSERT_TRUE(memory.release());
}

}  // namespace aqueduct::conformance
