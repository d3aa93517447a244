#pragma once

#include "coll/engine/team_engine_state.hpp"
#include "coll/engine/team_offers.hpp"
#include "coll/schedule/tree_recipe.hpp"
#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace aqueduct::coll {

using aqueduct::detail::CollCall;

class CallQuestions;
class CallText;

/// The collective operations of one team, on one member.
///
/// A job may have thousands of teams, most of which make few calls. So what grows with a team's calls is made by these, and
/// what depends on the team's size alone is shared by the teams of that size.
///
/// Calls join a queue in the team's order. The first call of the queue opens its runs one after the other: each gets a
/// portion of the team's scratch, and starts when the portion's former use is over. Runs that have started go on side by
/// side, whenever there is progress: each lane executes its steps until one has to wait for a counter or for room.
///
/// A run is *complete* when none of its lanes touches the user's buffers any more, and the sources of its puts are free.
/// It is *drained* when all lanes have ended: then its scratch may be used again. An operation of several pieces has a
/// run for each, and for Sync::all a run before and one after them that only signals.
///
/// Nothing here waits. A step that finds no room is tried again at the next progress.
class TeamEngine : public TeamEngineState {
 public:
  TeamEngine(Collectives& all, TeamState& team);
  ~TeamEngine();
  TeamEngine(const TeamEngine&) = delete;
  TeamEngine& operator=(const TeamEngine&) = delete;

  // Before the first call.

  /// The team has scratch of these sizes, in this member's bytes and counters, which held 0 when they were offered to the
  /// others. The first call makes what it needs to use them.
  void have_scratch(const ScratchSizes& sizes, std::byte* bytes, std::span<std::uint64_t> words) noexcept;
  /// The team has no scratch: only teams of one member work.
  void have_no_scratch() noexcept { layout_.reset(); }
  /// The team's board; no slots: it has none.
  const BoardRoom& board() const noexcept { return traits_.board; }
  /// The memory of the board, which counts what goes through it; null: the team has none.
  const MappedBoards* mapped_boards() const noexcept { return board_ ? &board_->access() : nullptr; }
  /// Whether the members reach each other's memory by loads and stores: the same on all of them.
  bool shares_memory() const noexcept { return traits_.mapped && shares_memory_; }
  /// Members share processors.
  bool is_crowded() const noexcept { return traits_.crowded; }
  /// The team has a board, in front of its scratch. `all`: what the members have offered. May throw std::bad_alloc.
  void have_board(const BoardRoom& room, std::span<const TeamOffer> all);
  /// Where the other members' scratch is.
  void know(TeamPlaces places) noexcept { places_ = std::move(places); }

  /// The team gets other scratch than it had: moved_scratch.cpp.
  void move_scratch(const ScratchSizes& sizes, std::byte* bytes, std::span<std::uint64_t> words,
                    TeamPlaces places);
  /// A tree of the team that takes effect later; empty: it will have none.
  struct NewTree {
    std::unique_ptr<TeamTree> tree;
    std::shared_ptr<Senders> senders;  ///< null: nobody counts them
  };
  /// Without a recipe the team will have no tree. May throw std::bad_alloc. Requires: the recipe fits the team (refusal).
  NewTree make_tree(const TreeRecipe* recipe) const;
  /// All members call it, with equal trees. Requires: as move_scratch.
  void use_tree(NewTree made) noexcept;
  /// What of the team uses this rank's part of a segment, or the segment elsewhere, and what to do; null: nothing.
  const char* use_of(core::Bytes memory, SegmentId segment) const noexcept;
  core::Bytes scratch_memory() const noexcept;
  /// Those that the program has not ended; others may still have a start that is not drained.
  bool has_plans() const noexcept {
    const Plan* plan = plans_;
    while (plan != nullptr && plan->dropped) plan = plan->next;
    return plan != nullptr;
  }

  /// Asks the team's conduit for collective operations of its own. May throw std::bad_alloc.
  void make_native();
  /// What it offers: NativeCollectives::offer; 0: nothing.
  std::uint64_t native_offer() const noexcept { return native_offer_; }
  /// The same, if all ranks of the job that it serves offer the same; else 0.
  std::uint64_t native_offer_of_all() const noexcept;
  /// Whether to use them: all members have the same.
  void choose_native(bool all_alike) noexcept;
  /// The team has ended on all members.
  void give_back_native() noexcept;

  /// A call of the team that differs from this one in its addresses alone, if it is kept; null: it must be checked.
  [[gnu::always_inline]] KnownCall* find(const CollCall& call, CallMemory& memory) const noexcept {
    KnownCall* const known = known_[LatestCalls::place_of(call)];
    if (known == nullptr || !same_but_for_addresses(known->given, call)) return nullptr;
    return find_addresses(*known, call, memory) ? known : nullptr;
  }
  /// Begins a call that find() has found. In coll/engine/start.hpp, as start_at_once: these are the short ways. Null: nothing
  /// has happened, and `begin` must begin it.
  [[gnu::always_inline]] inline core::Op* begin_at_once(KnownCall& call, CallMemory memory) noexcept;
  /// Whether a blocking call that find() has found can be carried out on the board now, by call_on_board_at_once.
  bool may_call_on_board(const KnownCall& call) const noexcept {
    return call.method->on_board && first_ == nullptr && quiet_ && agreement_.keeps_calls();
  }
  /// Begins it. False: it has not ended after a short time, and follow_board_call must follow, with nothing in between.
  bool call_on_board_at_once(KnownCall& call, CallMemory memory) noexcept;
  Event follow_board_call(KnownCall& call, CallMemory memory) noexcept;
  /// Where ranks share processors, of a call or barrier that has begun on the board: lets the others run, a few times. Returns
  /// whether it has ended; if not, it must be followed all the same. Requires: EndpointState::is_plain().
  bool take_turns() noexcept { return traits_.crowded && take_turns_on_board(); }
  /// The long way. `blocking`: the caller waits for the end, and holds no Event afterwards.
  Event begin(KnownCall& call, CallMemory memory, bool blocking) noexcept;
  /// Begins one that was checked.
  Event begin(const Request& request, const CollCall& given, bool blocking) noexcept;
  /// A call whose blocks may differ. Takes `call`, which is of the layer's pool, also on failure.
  Event begin(BlocksCall& call, bool blocking) noexcept { return begin_blocks(call, blocking, nullptr); }
  /// `why`: what the call returns. With no_memory of this rank's own the team is broken for it.
  void refuse(const CallDescription& call, Status why) noexcept;
  Result<Plan*> bind(const Request& request) noexcept;
  Result<Plan*> bind(BlocksCall& call) noexcept;  ///< takes it likewise
  [[gnu::always_inline]] inline core::Op* start_at_once(Plan& plan, core::OpPool& ops) noexcept;
  Event start(Plan& plan) noexcept;
  Status end(Plan& plan) noexcept;
  void drop(Plan& plan) noexcept;
  // For a search: coll/tuning_run.hpp.

  /// Chooses how the next barriers are carried out, which the next one does otherwise. Requires: has_barriers().
  Status choose_barrier() noexcept;
  /// The next calls and plans of the key are carried out so; `end_trial`: as before. By all members between the same two calls.
  void try_out(const TuningKey& key, const Timed& what) noexcept;
  /// Returns whether a call or plan was chosen so since try_out: false if that could not do it, and something else did.
  bool end_trial() noexcept;
  /// The members choose by another table from now on. By all of them between the same two calls. May throw std::bad_alloc.
  void have_tuning(std::shared_ptr<const TuningTable> table);
  /// This member cannot go on, for a reason that only it knows: all calls end so, and the other members learn of it.
  void give_up_calls(ErrorCode why) noexcept;

  // Learning while the program runs: coll/learned_calls.hpp.

  /// What carries out a call that was to be carried out by a candidate: another algorithm, if the candidate cannot do it;
  /// nothing, if the call has not begun.
  enum class CarriedOutBy : std::uint8_t { nothing, candidate, another };
  /// Begins a blocking call of the key with that candidate.
  Event begin_as(const Request& request, const CollCall& given, const Learning::Key& key,
                 std::size_t candidate, CarriedOutBy& by) noexcept;
  /// Another algorithm is the best one of the key now. By all members between the same two calls. May throw std::bad_alloc.
  void have_learned(const Learning::Key& key);

  /// Begins a barrier: an all-reduce of `vote`, the bits of a core::BarrierVote. When it is over, `vote` holds the votes of
  /// all members, merged, and `op` ends; that may be before this returns. `vote` stays in use until then.
  ///
  /// Requires: has_barriers().
  /// Errors:   refused (no memory; the team's order does not count the call), mismatch, peer_lost, closed. `op` has not
  ///           ended then.
  Status begin_barrier(core::Op& op, std::uint64_t& vote) noexcept;
  /// Whether a blocking barrier can be carried out on the board now, by call_barrier_at_once.
  inline bool may_call_barrier() const noexcept;
  /// Begins it, as begin_barrier, but ends no operation. False: it has not ended after a short time, and follow_barrier must follow,
  /// with nothing in between.
  bool call_barrier_at_once(std::uint64_t& vote) noexcept;
  /// Its end ends `op` from here on. False: there is no memory for that, and it has been waited for. Then `outcome` is its outcome.
  bool follow_barrier(core::Op& op, std::uint64_t& vote, Status& outcome) noexcept;

  /// Goes on with all that can go on. Returns whether something found no room, and should be tried again soon.
  bool advance() noexcept;
  /// Whether there is anything to go on with.
  bool busy() const noexcept { return first_ != nullptr || active_ != nullptr || scratch_busy(); }
  /// Nothing of the team is in flight, and all that this member has sent has arrived.
  bool idle() const noexcept { return !busy() && all_.parts == 1; }
  /// Nothing of the team will go on: it is idle, or broken and all operations have ended.
  bool at_rest() const noexcept { return idle() || (!broken_.ok() && first_ == nullptr); }
  void fail(Status why, std::uint64_t from = 0) noexcept;
  /// A member has told of its call, because it disagrees or has refused it.
  void heard(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept;
  /// The Team object goes away.
  void detach() noexcept {
    team_gone_ = true;
    for (Plan* plan = plans_; plan != nullptr; plan = plan->next) {
      plan->team_gone = true;
      plan->obstacles.add(Plan::kClosed);
    }
  }

  /// A member finishes the job, or ends the team. It has made `calls` calls of the team, counted in 31 bits, so it takes no part
  /// in further ones: these end here with `mismatch`, which names what it does instead.
  void heard_last(Rank from, std::uint32_t calls, const CallDescription& instead) noexcept;
  std::uint64_t calls() const noexcept { return agreement_.made(); }

  const TeamState& team() const noexcept { return team_; }
  Status broken() const noexcept { return broken_; }
  /// Whether this member has refused its last call for want of memory and does not know yet if all others have. If so, the team
  /// goes on. Before its next call it waits for the others (coll/wait_for_call.hpp), or ends the doubt.
  bool in_doubt() const noexcept { return agreement_.in_doubt(); }
  /// Leaves the team, if in doubt: it is broken for this member, and the others learn it from their next call on.
  void end_doubt() noexcept;
  // describe.cpp
  const CallDescription* call_of(std::uint64_t number) const noexcept;
  // timed_out.cpp
  bool times_out(const core::Op& op) noexcept;
  /// A counter has shown that a member has made another call than this one's number `number`.
  void saw_other(std::uint64_t number) noexcept;
  /// For the stall report: the oldest call, where it is, and what the members that have answered have called instead.
  void describe(std::string& text, CallQuestions& questions) const;

 private:
  friend class Collectives;
  /// What has become of a lane's step.
  enum class Did : std::uint8_t { step, waits, no_room, failed };

  // start.hpp: calls that are like an earlier one
  [[gnu::always_inline]] inline Run* prepared_for(KnownCall& call) noexcept;
  [[gnu::always_inline]] inline bool start_again(core::Op& op, KnownCall& call, Run& run) noexcept;
  core::Op* go_on_at_once(core::Op& op, Run& run) noexcept;
  void begin_again(core::Op& op, KnownCall& call, Run& run, CallMemory memory) noexcept;
  Event begin_or_start_again(KnownCall& call, CallMemory memory, bool blocking, Plan* plan) noexcept;

  // team_engine.cpp: calls
  Event begin_with(core::Op* op, KnownCall& call, CallMemory memory, bool blocking, Plan* plan) noexcept;
  Status begin_on(core::Op& op, KnownCall& call, CallMemory memory, Plan* plan) noexcept;
  static std::uint64_t unit_of(std::uint64_t number, const KnownCall& call) noexcept {
    return std::uint64_t{1} | std::uint64_t{fingerprint(number, call.digest)} << 16;
  }
  static Event alone(const Request& request) noexcept;
  void log_no_scratch(const Request& request) noexcept;
  void enqueue(CallRecord& operation) noexcept {
    operation.next = nullptr;
    *end_ = &operation;
    end_ = &operation.next;
  }
  bool scratch_busy() const noexcept { return scratch_ != nullptr && scratch_->busy(); }
  /// Makes what the team's calls need, once. Requires: the team has scratch. Errors: no_memory.
  Status be_ready() noexcept { return scratch_ != nullptr ? Status() : make_ready(); }
  Status make_ready() noexcept;
  void have_counters(CounterWords counters);

  // known_calls.cpp
  Result<KnownCall*> know(const Request& request) noexcept;
  void forget_calls() noexcept;
  static void have_method(KnownCall& call, Method* method) noexcept;
  void keep(KnownCall& call, const CollCall& given) noexcept;
  void let_go(KnownCall& call) noexcept;
  void give_up(KnownCall& call) noexcept;
  void drop_prepared(KnownCall& call) noexcept;
  void drop_prepared(const Method& method) noexcept;
  bool drop_one_prepared(KnownCall& call) noexcept;
  bool is_used(const Method& method, const CallRecord& by) const noexcept;

  // methods.cpp
  Result<Method*> method_of(const Request& request) noexcept;
  Result<Method*> method_to_try(const Shape& asked, const Request& request) noexcept;
  void give_up(Method& method) noexcept;

  // disagreements.cpp
  /// This member's next call: counted, and compared with what others have told of theirs.
  Status note(const CallDescription& call) noexcept {
    const Status status = agreement_.calls(agreement_.made() + 1, call);
    if (!status || agreement_.has_news()) [[unlikely]] {
      settle();
      if (!status) tell_silent_before(calls());
    }
    quiet_ = broken_.ok() && agreement_.is_quiet();
    see_short_way();
    return status;
  }
  void settle() noexcept;
  void be_whole_again() noexcept;
  void tell_silent_before(std::uint64_t number) noexcept;

  // plan_calls.cpp
  Result<Plan*> bind_known(KnownCall& call) noexcept;
  Status have_own_method(KnownCall& call) noexcept;
  void release(Plan& plan) noexcept;

  // blocks_calls.cpp, blocks_differ.cpp
  Status prepare_blocks(const Request& request) noexcept;
  std::uint64_t& piece_of_blocks(Collective operation) noexcept;
  Result<KnownCall*> know(BlocksCall& blocks) noexcept;
  void give_back_unused(BlocksCall& blocks) noexcept;
  Method* method_of_one(Collective operation) noexcept;
  Event begin_blocks(BlocksCall& blocks, bool blocking, Plan* plan) noexcept;
  bool open_blocks(CallRecord& operation) noexcept;
  bool decide(CallRecord& operation) noexcept;
  bool choose_moving(CallRecord& operation, std::uint64_t longest) noexcept;
  void open_comparing(Run& run, BlocksCall& call) noexcept;
  void open_asking(Run& run, BlocksCall& call) noexcept;
  void open_moving(Run& run, BlocksCall& call) noexcept;
  void end_blocks(CallRecord& operation, Status outcome) noexcept;
  Status differing_ends(const CallRecord& operation) const noexcept;
  Rank differing_lengths(const BlocksCall& call, const CallText& text) const noexcept;
  Rank differing_permutation(const BlocksCall& call, const CallText& text) const noexcept;

  // native_calls.cpp: what the conduit carries out; native_over is in steps.cpp
  core::Conduit* one_conduit() const noexcept;
  bool waits_for_native(const Run& run) const noexcept;
  Did start_native(Run& run, const Step& step) noexcept;
  static bool is_with_conduit(const Run& run) noexcept;
  void cancel_native() noexcept;
  void describe_native(std::string& text, const Run& run) const;
  static bool native_over(core::Layer& layer, core::Op& op) noexcept;

  // board_calls.cpp
  Event call_on_board(KnownCall& call, CallMemory memory) noexcept;
  bool work_on_board(KnownCall& call, CallMemory memory) noexcept;
  bool take_turns_on_board() noexcept;
  bool look_while_others_run(BoardOp& op) noexcept;
  bool follow_on_board(core::Op& op, KnownCall& call, CallMemory memory) noexcept;
  bool may_copy(const BoardPlan& plan) const noexcept;
  void set_board_op(BoardOp& op, const KnownCall& call, CallMemory memory) const noexcept;
  bool plan_for_board(KnownCall& call) const noexcept;
  void open_on_board(Run& run) noexcept;
  void look_at_board(Run& run) noexcept;
  void look_at_calls() noexcept;
  std::optional<std::uint64_t> first_that_differs() const noexcept;
  bool step_on_board(BoardOp& op) noexcept;
  Event wait_on_board(BoardOp op) noexcept;
  void prepare_board_run(Run& run) noexcept;
  /// This member's latest call, for the others to compare.
  void say_call(std::uint32_t mark) noexcept {
    if (board_ == nullptr) return;
    said_->say(static_cast<std::uint32_t>(calls()), mark);
    if (traits_.crowded) board_->runs_on(MappedBoards::processor());
    board_->say(calls(), mark);
  }
  /// The same of a call that may go off the board, where members get further ahead of one another.
  void say_call_off_board(std::uint32_t mark) noexcept {
    if (board_ == nullptr) return;
    say_call(mark);
    if (said_->is_due()) [[unlikely]]
      keep_calls_for_others();
  }
  [[gnu::cold]] void keep_calls_for_others() noexcept;
  std::optional<std::uint32_t> mark_of(std::uint64_t number) const noexcept;
  void describe_board(std::string& text, const Run& run) const;

  // barrier_calls.cpp
  void prepare_barriers();
  bool set_barrier(BarrierCall& made, const Choice& choice) const;
  void tell_of_other_barrier();

  // runs.cpp: pieces, portions, ends
  void pump() noexcept;
  void forget_choices() noexcept;
  void open_and_start() noexcept;
  /// Calls that are like earlier ones begin the short way (start.hpp) while nothing is wrong and no call waits for scratch.
  void see_short_way() noexcept {
    if (scratch_ != nullptr) scratch_->allow_again(quiet_ && opening_ == nullptr && held_ == nullptr);
  }
  // Inline, as all that each start passes once: its calls would be a quarter of its instructions.
  [[gnu::always_inline]] inline bool start_held() noexcept;
  [[gnu::always_inline]] inline bool open_next(CallRecord& operation) noexcept;
  [[gnu::always_inline]] inline void open_whole(Run& run, const Shape& shape) noexcept;
  Shape shape_of(const CallRecord& operation, std::uint32_t index) const noexcept;
  void open_rest(Run& run, const Shape& shape) noexcept;
  void keep_steps(Method& method, const Shape& shape) noexcept;
  [[gnu::always_inline]] inline void set_lanes(Run& run, const Method& method, const Shape& shape) noexcept;
  void compute_steps(Run& run, const Algorithm& algorithm, const Shape& shape) noexcept;
  void activate(Run& run) noexcept {
    run.next = nullptr;
    *active_end_ = &run;
    active_end_ = &run.next;
  }
  bool cancelled(const CallRecord& operation) const noexcept { return operation.number >= broken_from_; }
  Status why_cancelled(const CallRecord& operation) const noexcept {
    return operation.number >= first_broken_ ? broken_ : earlier_;
  }
  void completed(Run& run) noexcept;
  void drained(Run& run) noexcept;
  void put_aside(Run& run) noexcept;
  void over(CallRecord& operation, Status outcome) noexcept;
  void end(core::Op& op, std::uint64_t number, Sync out, Status outcome) noexcept {
    if (timed_out_ != nullptr) [[unlikely]]
      return end_among_timed_out(op, number, out, outcome);
    state_.ops.part_ended(op, outcome);
  }
  // timed_out.cpp
  [[gnu::cold]] void end_among_timed_out(core::Op& op, std::uint64_t number, Sync out,
                                         Status outcome) noexcept;
  void take_off(CallRecord& operation) noexcept;
  void forget(CallRecord& operation) noexcept;
  // convert.cpp: only if the call's elements are converted
  void convert_in(Run& run) const noexcept;
  void convert_out(Run& run) const noexcept;
  bool send_raises() noexcept;  // steps.cpp
  void reap() noexcept;
  void fail_and_tell(Status why) noexcept;
  void log_second_failure(Status why) noexcept;

  // lanes.cpp: when a step runs
  void look(Run& run) noexcept;
  inline bool may_begin(const Run& run) const noexcept;
  inline Did go_on(Run& run, Run::Lane& lane) noexcept;
  inline bool fits(const Run& run, std::uint64_t sum) const noexcept;
  bool waits_long(Run& run) const noexcept { return run.waits_long(state_.checked_peers); }
  void look_for_others(const Run& run) noexcept;
  inline bool arrived(const Run& run, Counter counter, std::uint32_t until) noexcept;

  // steps.cpp: what a step does
  Did execute(Run& run, Run::Lane& lane) noexcept;
  Did put(Run& run, Run::Lane& lane) noexcept;
  template <class First, class Transfer>
  Did run_by_run(Run& run, Run::Lane& lane, const First& first, const Transfer& transfer) noexcept;
  Did put_strided(Run& run, Run::Lane& lane) noexcept;
  Did get(Run& run, Run::Lane& lane) noexcept;
  Did signal(Run& run, const Step& step) noexcept;
  void copy(Run& run, const Step& step) noexcept;
  void reduce(Run& run, const Step& step) noexcept;
  void raise_own(const Run& run, Counter counter) noexcept;
  Did outcome(Run& run, Status status) noexcept;
  /// Whether a peer's memory may be reached without an operation. No step goes to this member.
  bool may_be_mapped(Rank peer) const noexcept;
  core::Op* step_op(Run& run, const Step& step) noexcept;
  void take_back(Run& run, core::Op& op) noexcept;
  static bool step_over(core::Layer& layer, core::Op& op) noexcept;
  static bool strided_over(core::Layer& layer, core::Op& op) noexcept;
  std::byte* here(const Run& run, const Place& place) const noexcept;
  GlobalPtr<std::byte> there(const Run& run, Rank peer, const Place& place) const noexcept;
  const std::byte* source(Run& run, const Step& step) noexcept;
  GlobalPtr<std::byte> target(const Run& run, const Step& step) const noexcept;
  // redirects.cpp: blocks that a conduit stores in the output
  core::NativeRedirects* redirects_of_team() const noexcept;
  void redirect_arrivals(Run& run) noexcept;
  bool take_redirected(Run& run, const Step& step) noexcept;
  void end_redirects(Run& run) noexcept;
  // announcements.cpp: outputs that members announce
  bool is_reached(Run& run) noexcept;
  std::optional<GlobalPtr<std::byte>> find_for_all(const std::byte* memory, std::uint64_t bytes) noexcept;
  const std::byte* write_down(Run& run, const Step& step) noexcept;
  GlobalPtr<std::byte> announced(const Run& run, const Step& step) const noexcept;
  GlobalPtr<std::byte> scratch_of(Rank peer) const noexcept;
  Signal signal_for(const Run& run, const Step& step) const noexcept;
};

inline bool TeamEngine::may_call_barrier() const noexcept {
  return barrier_ != nullptr && may_call_on_board(barrier_->call);
}

}  // namespace aqueduct::coll
