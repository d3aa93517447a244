#pragma once

#include "coll/engine/abort_messages.hpp"
#include "coll/engine/blocks_call.hpp"
#include "coll/engine/call_questions.hpp"
#include "coll/engine/set_up_calls.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/engine/team_offers.hpp"
#include "coll/engine/user_operators.hpp"
#include "coll/scratch/hidden_memory.hpp"
#include "coll/tune/learned_decisions.hpp"
#include "coll/tune/table.hpp"
#include "coll/tune/tree_setting.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "core/busy.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// The collective operations of an endpoint: an engine for each team, and what they share.
class Collectives final : public core::Layer {
 public:
  using Offer = TeamOffer;
  struct Counts {
    std::uint64_t operations = 0;
    std::uint64_t messages = 0;    ///< puts, gets and signals of schedules
    std::uint64_t control = 0;     ///< messages of the scratch
    std::uint64_t redirected = 0;  ///< bytes that a conduit has stored in outputs, in place of scratch
  };

  explicit Collectives(EndpointState& state);
  ~Collectives();
  static std::span<const SettingInfo> settings() noexcept;

  // The life of a team.

  /// Makes the engine of a team, and takes a place for it in this rank's hidden memory: to be told to all members. The
  /// team's end gives it back. Throws std::bad_alloc; nothing has happened then.
  Offer prepare(TeamState& team);
  /// Gives a prepared team its scratch. `all`: what the members have offered, in team order. What takes much memory was
  /// allocated before, unless another member has offered less. Errors: no_memory, at this rank.
  Status settle(TeamState& team, std::span<const Offer> all) noexcept;
  /// Makes the engine of a team whose members know all offers. Throws std::bad_alloc.
  void enter(TeamState& team, std::span<const Offer> all);
  /// What this rank's conduit offers for a prepared team: NativeCollectives::offer; 0: nothing.
  static std::uint64_t native_offer(TeamState& team) noexcept {
    const TeamEngine* const engine = engine_of(team);
    return engine != nullptr ? engine->native_offer() : 0;
  }
  /// Before `settle`: whether all members' conduits offer the same. If not, none is used.
  static void choose_native(TeamState& team, bool all_alike) noexcept {
    if (TeamEngine* const engine = engine_of(team)) engine->choose_native(all_alike);
  }
  /// Which table a prepared team chooses by; and before `settle`, whether all members' is the same.
  static std::uint64_t tuning_hash(TeamState& team) noexcept {
    const TeamEngine* const engine = engine_of(team);
    return engine != nullptr ? engine->tuning().hash() : 0;
  }
  static void choose_tuning(TeamState& team, bool all_alike) noexcept {
    if (TeamEngine* const engine = engine_of(team)) engine->choose_tuning(all_alike);
  }
  // Scratch of the program's own: moved_scratch.cpp.

  static bool has_plans(TeamState& team) noexcept { return engine_of(team)->has_plans(); }
  /// Whether this rank has given the memory, or some of it, to another team.
  bool is_scratch_of_another(const TeamState& team, core::Bytes memory) const noexcept;
  /// What of a team of this rank uses its part of a segment, or the segment elsewhere, and what to do; null: nothing.
  const char* use_of(core::Bytes memory, SegmentId segment) const noexcept;
  /// Sets what of the library's own memory this member has for the team.
  void offer_again(const TeamState& team, ScratchProposal& proposal) noexcept;
  /// The sizes of the scratch that the members propose. Errors: invalid_argument; the log says why.
  Result<ScratchSizes> sizes_within(TeamState& team, std::span<const ScratchProposal> all) noexcept;
  /// Requires: nothing of the team is in flight on any member, and it has no plans.
  /// Errors: no_memory. The team is to be broken then, on all members.
  Status move_scratch(TeamState& team, const ScratchSizes& sizes,
                      std::span<const ScratchProposal> all) noexcept;

  /// From now on members in other calls of a team are found too. Requires: it outlives this object's last progress.
  void know_of(SetUpCalls& calls) noexcept { set_ups_ = &calls; }

  /// Waits until nothing of the team is in flight here, and all that this member has sent has arrived.
  Status drain(TeamState& team) noexcept;
  /// Whether nothing of the team is in flight here, and all that this member has sent has arrived. A broken team may be
  /// drained without that.
  static bool idle(TeamState& team) noexcept;
  /// Ends the engine. Operations in flight end with `closed`. `together`: all members end it after `drain`, so its memory
  /// may serve another team.
  void leave(TeamState& team, bool together) noexcept;

  HiddenMemory& memory() noexcept { return offers_.memory(); }
  /// Null: the team has none, or has ended.
  static TeamEngine* engine_of(TeamState& team) noexcept {
    return static_cast<TeamEngine*>(team.slot(aqueduct::detail::TeamSlot::collectives));
  }

  // Calls: see TeamEngine.

  void refuse(TeamState& team, const CallDescription& call, Status why) noexcept;
  /// This rank is in Job::finish. Tells the members of all teams that work still that it makes no further call of them.
  void tell_finish() noexcept;
  /// Adds what teams have learned of which this rank is the first member: those that have ended, and those that have not.
  /// May throw std::bad_alloc.
  void tell_learned(LearnedDecisions& out) const;
  Result<void*> bind(TeamState& team, const Request& request) noexcept;
  /// A call whose blocks may differ, from blocks_calls(), which this takes also on failure.
  Result<void*> bind(TeamState& team, BlocksCall& call) noexcept;
  static Event start(Plan& plan) noexcept;
  Status end(void* plan) noexcept;
  void drop(void* plan) noexcept;
  /// `narrow`: bytes of an element in the users' buffers, if it is converted for combining; else 0.
  std::string explain(TeamState& team, const Shape& shape, std::uint32_t narrow = 0);
  /// What a choice of the team costs on its board. Requires: the algorithm is one of a board. May throw std::bad_alloc.
  Cost cost_on_board(TeamState& team, const Choice& choice);
  Choice choice(TeamState& team, const Shape& shape) noexcept;
  /// Keeps memory that a call may still use until the endpoint ends.
  void keep(std::shared_ptr<void> memory) { kept_.push_back(std::move(memory)); }
  UserOperators& user_operators() noexcept { return user_operators_; }

  // For the engines.

  EndpointState& state() noexcept { return state_; }
  Pool<Run>& runs() noexcept { return runs_; }
  Pool<CallRecord>& operations() noexcept { return operations_; }
  Pool<KnownCall>& known_calls() noexcept { return known_calls_; }
  Pool<Method>& methods() noexcept { return methods_; }
  Pool<BlocksCall>& blocks_calls() noexcept { return blocks_calls_; }
  /// Of a blocking call on a board, from its begin until it ends or TeamEngine::follow_board_call has copied it: this rank does
  /// nothing else meanwhile.
  BoardOp& board_op() noexcept { return board_op_; }
  SharedSenders& senders() noexcept { return senders_; }
  const TableChooser& rules() const noexcept { return rules_; }
  /// Whether a team's barrier that differs from the setting is to be reported: the first one.
  bool tells_of_barrier() noexcept { return !std::exchange(told_of_barrier_, true); }
  /// AQUEDUCT_COLL_TREE.
  const std::optional<TreeRecipe>& tree_recipe() const noexcept { return tree_recipe_; }
  /// What the job has agreed on when it started: new teams begin with it.
  const std::shared_ptr<const TuningTable>& tuning() const noexcept { return tuning_; }
  const std::shared_ptr<const TuningTable>& no_tuning() const noexcept { return no_tuning_; }
  ChoiceCounts& choices() noexcept { return choices_; }
  Counts& counts() noexcept { return counts_; }
  /// Those of the program's own.
  AddedSpan added_algorithms() const noexcept;
  std::size_t index_of(const Algorithm& algorithm) const noexcept;
  /// Where the hash of a shape is kept after the steps of an added algorithm have been found right for it. One table serves all
  /// teams, so that it takes no memory of each. 0: the place is empty.
  std::uint64_t& found_right(std::uint64_t hash) noexcept {
    return found_right_[hash / 2 % found_right_.size()];
  }
  void count(std::size_t algorithm) noexcept { ++counts_.operations, ++uses_[algorithm]; }
  /// The calls of an algorithm. Valid while this lives.
  std::uint64_t& uses_of(std::size_t algorithm) noexcept { return uses_[algorithm]; }
  /// The team may have something to do.
  void look_busy(TeamEngine& team) noexcept {
    if (team.busy() && (!team.listed_ || team.no_room_)) list(team);
  }
  /// The same of a team that has something to do, and wants no more progress than before.
  void has_work(TeamEngine& team) noexcept {
    if (team.listed_) return;
    put_on_list(team);
    watching_.set(true);
  }
  /// A transfer has failed because its peer is gone, which nobody has reported yet. Returns whether that is news: then the
  /// next progress of the program makes it known to all layers, after what the peer has sent. Otherwise a program would be
  /// told of a loss by a call, but not by is_lost.
  bool learns_of_loss(Rank peer) noexcept;
  /// Whether there are such losses, which no progress has made known yet.
  bool has_losses_to_tell() const noexcept { return !newly_lost_.empty(); }
  /// No call of the team can end well any more. The next progress ends those in flight.
  void fail(TeamState& team, Status why) noexcept;
  /// Whether the peer is lost, or will be with the next progress of the program.
  bool knows_of_loss(Rank peer) const noexcept;
  /// Tells all other members of this one's call.
  void tell(const TeamEngine& team, std::uint64_t number, const CallDescription& call) noexcept;
  /// The call that ends this operation has timed out.
  void times_out(const core::Op& op) noexcept;

  // core::Layer
  void advance() noexcept override;
  void peer_lost(Rank peer) noexcept override;
  void describe(std::string& text, Rank peer) const override;

 private:
  struct Team {
    std::unique_ptr<TeamEngine> engine;
    Offer mine;
  };
  void prepare(TeamState& team, const Offer& mine);
  static std::uint64_t bytes_of(const ScratchProposal& one, bool given, const BoardRoom& board) noexcept;
  void give_scratch(TeamEngine& engine, const std::optional<ScratchSizes>& sizes, const Offer& mine,
                    const BoardRoom& board);
  std::optional<ScratchSizes> sizes_of(const TeamState& team, const Offer& mine, std::span<const Offer> all,
                                       const BoardRoom& board) noexcept;
  /// The team is advanced in each progress from now on, until it is not busy any more.
  void list(TeamEngine& team) noexcept {
    if (!team.listed_) put_on_list(team);
    watching_.set(true);
    if (team.no_room_) busy_.set(true);
  }
  void put_on_list(TeamEngine& team) noexcept {
    team.listed_ = true;
    *busy_end_ = &team;
    busy_end_ = &team.next_busy_;
  }
  void unlist(TeamEngine** at) noexcept;
  void tell_losses() noexcept;
  void set_busy(bool soon) noexcept;
  static bool last_call(void* self, std::uint64_t team, Rank asker, std::uint64_t& number,
                        CallDescription& call);
  static void last_call_said(void* self, std::uint64_t team, Rank from, std::uint64_t number,
                             const CallDescription& theirs);
  static bool heard(void* self, std::uint64_t team, Rank from, std::uint64_t number,
                    const CallDescription& theirs) noexcept;

  EndpointState& state_;
  TeamOffers offers_;
  UserOperators user_operators_;
  SharedSenders senders_;
  TableChooser rules_;
  std::optional<TreeRecipe> tree_recipe_;
  std::shared_ptr<const TuningTable> tuning_;
  std::shared_ptr<const TuningTable> no_tuning_ = std::make_shared<const TuningTable>();
  ChoiceCounts choices_;
  std::vector<std::shared_ptr<void>> kept_;
  AbortMessages aborts_;
  /// Changed by a stall report, which asks for what the next one tells.
  mutable CallQuestions questions_;
  SetUpCalls* set_ups_ = nullptr;  ///< null: this rank knows of none
  Pool<Run> runs_;
  Pool<CallRecord> operations_;
  Pool<KnownCall> known_calls_;
  Pool<Method> methods_;
  Pool<BlocksCall> blocks_calls_;
  BoardOp board_op_;
  std::map<std::uint64_t, Team> teams_;  ///< by id
  TeamEngine* first_busy_ = nullptr;
  TeamEngine** busy_end_ = &first_busy_;
  std::vector<std::unique_ptr<TeamEngine>>
      leaving_;                   ///< whose Team is gone, and whose puts are still in flight
  std::vector<Rank> newly_lost_;  ///< not known to the other layers yet
  Counts counts_;
  std::vector<std::uint64_t> uses_;  ///< [algorithm]
  std::vector<std::string> names_;   ///< of their rows
  core::Busy busy_;
  core::Busy watching_;
  std::array<std::uint64_t, 64> found_right_{};
  bool told_of_short_bank_ = false;
  bool told_of_no_scratch_ = false;
  std::uint64_t teams_without_scratch_ = 0;
  bool told_of_barrier_ = false;
  LearnedDecisions learned_;  ///< by teams that have ended
};

}  // namespace aqueduct::coll
