#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "topology/machine.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

constexpr std::size_t kForcedOperations = static_cast<std::size_t>(Collective::exscan) + 1;

/// An algorithm with values of its parameters. 0: not named in the setting.
struct ForcedChoice {
  const coll::Algorithm* algorithm = nullptr;  ///< null: the operation has no more; `auto`
  std::array<std::uint32_t, 3> parameters{};

  std::string setting() const {
    std::string text(algorithm->name);
    char mark = ':';
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
      if (parameters[i] == 0) continue;
      text += mark + std::string(algorithm->parameters[i].name) + '=' + std::to_string(parameters[i]);
      mark = ',';
    }
    return text;
  }
  /// More segments than the counters of a small bank: then the call may be refused for that.
  bool may_lack_counters() const {
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i) {
      if (algorithm->parameters[i].name == "segments" && parameters[i] > 7) return true;
    }
    return false;
  }
};

/// The choice of each operation: [operation].
struct ForcedJob {
  std::array<ForcedChoice, kForcedOperations> choices;

  const ForcedChoice& of(Collective operation) const { return choices[static_cast<std::size_t>(operation)]; }
  bool goes_by_hosts(Collective operation) const {
    return of(operation).algorithm != nullptr && of(operation).algorithm->hosts;
  }
  Settings settings() const {
    Settings all;
    for (const SettingInfo& info : coll::algorithm_settings()) {
      if (coll::has_counts(coll::operation_of(info))) continue;       // collective_v_test.cpp
      if (coll::operation_of(info) == Collective::barrier) continue;  // barrier_algorithm_test.cpp
      const ForcedChoice& choice = of(coll::operation_of(info));
      if (choice.algorithm != nullptr) all.emplace_back(info.name, choice.setting());
    }
    return all;
  }
};

/// Values beside the usual one: the least, the most, and for a radix those around the number of ranks.
std::vector<std::uint32_t> awkward_values(const coll::Parameter& parameter, Rank ranks) {
  const bool segments = parameter.name == "segments";
  std::vector<std::uint32_t> values;
  for (const std::uint32_t value :
       {parameter.least, parameter.most, segments ? 7 : ranks - 1, segments ? 1 : ranks}) {
    // Segments that are not named go with the number of bytes, so even their usual number is a case of its own.
    const bool in_range = value >= parameter.least && value <= parameter.most;
    if (in_range && (segments || value != parameter.usual) && std::ranges::count(values, value) == 0)
      values.push_back(value);
  }
  return values;
}

/// The awkward choices of an algorithm. Two parameters take their values side by side, not each with each.
std::vector<ForcedChoice> awkward_choices(const coll::Algorithm& algorithm, Rank ranks) {
  std::vector<std::vector<std::uint32_t>> values;
  std::size_t most = 0;
  for (const coll::Parameter& parameter : algorithm.parameters) {
    values.push_back(awkward_values(parameter, ranks));
    most = std::max(most, values.back().size());
  }
  std::vector<ForcedChoice> choices(most, ForcedChoice{&algorithm, {}});
  for (std::size_t i = 0; i < most; ++i) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (!values[p].empty()) choices[i].parameters[p] = values[p][(i + p) % values[p].size()];
    }
  }
  return choices;
}

/// Deals the choices of all operations out to as few jobs as can have them all.
std::vector<ForcedJob> forced_jobs(std::span<const coll::Algorithm* const> algorithms, Rank ranks,
                                   bool awkward) {
  std::array<std::size_t, kForcedOperations> dealt{};
  std::vector<ForcedJob> jobs;
  for (const coll::Algorithm* const algorithm : algorithms) {
    const auto operation = static_cast<std::size_t>(algorithm->operation);
    if (operation >= kForcedOperations) continue;  // blocks that differ: collective_v_test.cpp
    std::vector<ForcedChoice> choices{{algorithm, {}}};
    if (awkward) choices = awkward_choices(*algorithm, ranks);
    for (const ForcedChoice& choice : choices) {
      const std::size_t job = dealt[operation]++;
      if (job == jobs.size()) jobs.emplace_back();
      jobs[job].choices[operation] = choice;
    }
  }
  return jobs;
}

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

/// Every algorithm that a setting can ask for, against the naive model. A shape that it cannot do is refused on all members.
///
/// The algorithms do not see the conduit: one fabric tries all of them, and the others some. With --brief, and under a
/// sanitizer, where a job takes twenty times as long, fewer still.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kFewest = true;
#else
constexpr bool kFewest = false;
#endif
bool runs_all(const Fabric& fabric) { return std::string_view(fabric.name) == "loop-native"; }

bool shares_memory(const Fabric& fabric) { return std::string_view(fabric.name).starts_with("smp-"); }

/// The settings hold for a job, but each operation has its own. So each job forces one algorithm of every operation.
class CollectiveAlgorithms : public FabricTest {
 protected:
  void run_jobs(const std::vector<ForcedJob>& jobs, std::size_t few, std::size_t fewest,
                const Settings& more = {}) {
    const std::size_t stride = runs_all(fabric()) ? 1 : kFewest || fabric().brief ? fewest : few;
    for (std::size_t i = 0; i < jobs.size() && !HasFailure() && !IsSkipped(); i += stride) {
      Settings settings = jobs[i].settings();
      settings.insert(settings.end(), more.begin(), more.end());
      settings.push_back({"log", "off"});  // each refused call is an error in the log
      // Half of them with little scratch, so that long calls are cut into pieces.
      if (i % 2 == 0) settings.push_back({"coll_scratch", "64K"});
      run({.ranks = ranks(), .segment_bytes = 4096, .settings = std::move(settings)},
          [job = jobs[i]](Endpoint& me) { play_forced_job(me, job); });
    }
  }
  /// Fewer where starting a job takes long.
  Rank ranks() const { return fabric().one_process() ? many() : std::min<Rank>(many(), 5); }
};

TEST_P(CollectiveAlgorithms, WithUsualParametersEqualTheModelOrRefuse) {
  run_jobs(forced_jobs(coll::all_algorithms(), ranks(), /*awkward=*/false), 3, 5);
}

TEST_P(CollectiveAlgorithms, WithAwkwardParametersEqualTheModelOrRefuse) {
  run_jobs(forced_jobs(coll::all_algorithms(), ranks(), /*awkward=*/true), 11, 31);
}

/// All algorithms that put into outputs which members announce, in one job.
ForcedJob announcing_job() {
  ForcedJob job;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    const auto operation = static_cast<std::size_t>(algorithm->operation);
    if (algorithm->direct && operation < kForcedOperations) job.choices[operation] = {algorithm, {}};
  }
  return job;
}

/// All algorithms that go by a tree of the team.
ForcedJob team_tree_job() {
  ForcedJob job;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    if (algorithm->team_tree) job.choices[static_cast<std::size_t>(algorithm->operation)] = {algorithm, {}};
  }
  return job;
}

// On every fabric. The last tree has the odd members before the even ones, so that few subtrees are ranges of the team: on
// smaller teams, for which it is not, the rules choose other algorithms; so they do for reductions in the team's order.
TEST_P(CollectiveAlgorithms, OnTreesOfTheTeamEqualTheModel) {
  std::string order;
  for (const Rank first : {1u, 0u}) {
    for (Rank i = first; i < ranks(); i += 2) order += (order.empty() ? "" : ",") + std::to_string(i);
  }
  for (const std::string& tree : {std::string("2-nomial over 2-ary portion=3"),
                                  std::string("chain over flat"), "fork:2x2 order=" + order})
    run_jobs({team_tree_job()}, 1, 1, {{"coll_tree", tree}});
}

// On every fabric: how memory is reached is the conduit's matter.
TEST_P(CollectiveAlgorithms, ThatAnnounceOutputsEqualTheModel) { run_jobs({announcing_job()}, 1, 1); }

// The segments of two teams have outputs of a call of all ranks: the other half cannot name such a place, or would name
// another one.
TEST_P(CollectiveAlgorithms, ThatAnnounceOutputsAnnounceNoSegmentOfSomeMembers) {
  run({.ranks = 4, .segment_bytes = 4096, .settings = announcing_job().settings()}, [](Endpoint& me) {
    constexpr std::size_t kCount = 96;
    auto half = me.world().split(me.rank() / 2, me.rank());
    ASSERT_TRUE(half && *half);
    {
      auto segment = Segment::create(**half, 4 * kCount * sizeof(std::uint64_t));
      ASSERT_TRUE(segment) << segment.status().text();
      const std::span<std::uint64_t> all(reinterpret_cast<std::uint64_t*>(segment->mine().data()),
                                         4 * kCount);
      std::vector<std::uint64_t> mine(kCount, me.rank() + 1), sum(4 * kCount);
      ASSERT_TRUE(all_gather(me.world(), mine, all));
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i / kCount + 1);
      ASSERT_TRUE(all_reduce(me.world(), all, sum, ReduceOp::sum));
      ASSERT_TRUE(all_reduce(me.world(), all, ReduceOp::sum));
      for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], 4 * (i / kCount + 1));
      EXPECT_EQ(std::vector<std::uint64_t>(all.begin(), all.end()), sum);
      ASSERT_TRUE(segment->release());
    }
    ASSERT_TRUE((*half)->end());
  });
}

/// Whether ranks are on several hosts, or pretend to be, with several on some.
bool has_shared_hosts(const Fabric& fabric) {
  const std::string_view name = fabric.name;
  return name.find("-hosts") != name.npos && name.find("-alone") == name.npos;
}

// Every one of them, with usual and awkward radixes, on teams of any number of ranks in both orders.
TEST_P(CollectiveAlgorithms, ThatGoByHostsEqualTheModelOrRefuse) {
  if (!has_shared_hosts(fabric())) GTEST_SKIP() << "the ranks share one host, or each has its own";
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm* const one : coll::all_algorithms())
    if (one->hosts) all.push_back(one);
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), 1, 1);
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/true), 2, 5);
}

/// The algorithms of a team's board: all of them where members share memory, else one job in which they are refused.
std::vector<const coll::Algorithm*> algorithms_of_boards() {
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm& algorithm : coll::board_algorithms()) all.push_back(&algorithm);
  return all;
}

TEST_P(CollectiveAlgorithms, OnBoardsEqualTheModelOrRefuse) {
  const auto all = algorithms_of_boards();
  const std::size_t stride = shares_memory(fabric()) ? 1 : all.size();
  run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), stride, stride);
}

TEST_P(CollectiveAlgorithms, OnBoardsWithAwkwardParametersEqualTheModel) {
  if (!shares_memory(fabric())) GTEST_SKIP() << "the members do not share memory";
  run_jobs(forced_jobs(algorithms_of_boards(), ranks(), /*awkward=*/true), 1, 1);
}

// Unequal domains, whose members are scattered over the team.
TEST_P(CollectiveAlgorithms, ThatGoByDomainsOfMemoryEqualTheModel) {
  if (!shares_memory(fabric())) GTEST_SKIP() << "the members do not share memory";
  constexpr const char* kMachine = "package:2 numa:2 core:4 pu:1";
  // hwloc reads the description, and a build may lack it.
  if (!topology::read_machine(topology::Source::of(kMachine)).problem.empty()) GTEST_SKIP() << "no hwloc";
  std::vector<const coll::Algorithm*> all;
  for (const coll::Algorithm* const one : algorithms_of_boards()) {
    if (one->board == coll::BoardMethod::domain_lines || one->board == coll::BoardMethod::domains ||
        one->board == coll::BoardMethod::domain_blocks || one->board == coll::BoardMethod::domain_tiles ||
        one->board == coll::BoardMethod::tree)
      all.push_back(one);
  }
  for (const char* const places : {"0,8,1,9,4", "0,1,8,9,10,2,12"}) {
    run_jobs(forced_jobs(all, ranks(), /*awkward=*/false), 1, 1,
             {{"topology", kMachine}, {"places", places}});
  }
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveAlgorithms, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
