#pragma once

#include "coll/engine/known_call.hpp"
#include "coll/engine/redirects.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/team_scratch.hpp"
#include "coll/shared/board_op.hpp"
#include "core/clock.hpp"
#include "core/op.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace aqueduct::coll {

struct CallRecord;
struct PlanRecord;
class TeamEngine;

inline constexpr core::OpKind kCollectiveKind{"a collective operation"};

/// How the calls of one shape are carried out: kept, so that the next call of the shape finds it.
struct Method {
  static constexpr std::uint32_t kMostLanes = 4;
  static constexpr std::uint32_t kMostSteps = 64;  ///< more are computed when they are reached. Chosen

  Shape asked;        ///< the shape of the calls; with root 0 if another root only shifts the members
  bool wide = false;  ///< the elements are converted, which takes room for both buffers
  const Algorithm* algorithm = nullptr;
  Shape shape;              ///< with the parameters; the root likewise
  std::uint64_t piece = 0;  ///< bytes of each block in one run
  std::uint32_t hash = 0;   ///< of algorithm, parameters and pieces: the same on all members
  std::size_t index = 0;    ///< of the algorithm in the list of all
  std::uint32_t runs = 1;   ///< of a call
  bool before = false;      ///< the first of these is the pass before the pieces
  bool after = false;       ///< the last one is the pass after them

  // Of a run of a whole piece.
  Shape run;
  Needs needs;
  std::uint64_t temp_at = 0;
  std::uint64_t stage_at = 0;
  Senders::Ticket ticket;

  // This member's steps of such a run, for one root.
  Rank root = kNoRank;       ///< kNoRank: for none
  Rank seen_root = kNoRank;  ///< the root for which they were last written down, or found to be too many
  std::uint32_t lanes = 0;
  std::array<std::uint32_t, kMostLanes> lengths{};
  std::array<std::uint32_t, kMostLanes> first{};  ///< [lane] in `steps`
  std::vector<Step> steps;
  RedirectedSteps redirected;  ///< of `steps`; none if no conduit redirects

  bool on_board = false;  ///< its calls are carried out on the team's board, as KnownCall::plan says

  std::uint32_t uses = 0;  ///< known calls that name it
  bool kept = false;       ///< in the team's table
  Method* next = nullptr;  ///< in the pool
};

/// One schedule under way on this member: an operation, or a piece of one.
struct Run {
  static constexpr std::uint32_t kMostLanes = Method::kMostLanes;

  /// Where a lane is.
  struct Lane {
    const Step* kept = nullptr;  ///< its steps, if they are kept
    const Step* step = nullptr;  ///< the next one, if it has been fetched
    Step computed;               ///< that one, if steps are not kept
    std::uint32_t next = 0;      ///< its index
    std::uint32_t length = 0;
    std::uint64_t pieces = 0;     ///< of a step with several runs: how many have been posted
    core::Op* strided = nullptr;  ///< the operation of these
    bool told = false;
    bool ended = false;
  };

  CallRecord* operation = nullptr;
  Run* next = nullptr;      ///< of the team's active ones; of a known call's prepared ones; or in the pool
  std::uint32_t index = 0;  ///< which of the operation's runs
  std::optional<Schedule> schedule;  ///< if steps are not kept
  std::uint32_t element = 1;
  std::uint64_t bytes = 0;  ///< of its part of a block
  Portion portion;
  MemberBlocks blocks;         ///< of a call whose blocks may differ: what its steps are computed from
  std::uint64_t temp_at = 0;   ///< from the beginning of the portion; scratch is at 0
  std::uint64_t stage_at = 0;  ///< likewise: wide elements of input and output
  std::byte* in = nullptr;     ///< the run's part of the input, without offset of the block
  std::byte* out = nullptr;
  std::uint64_t shift = 0;  ///< where the run's part begins in each block of the user's buffers, in bytes
  /// Where peers put what is for this output, if members announce that: there, or in scratch.
  enum class Output : std::uint8_t { unasked, reached, not_reached } output = Output::unasked;
  GlobalPtr<std::byte> output_at;  ///< of one that is reached
  std::array<Lane, kMostLanes> lanes;
  std::uint32_t lane_count = 0;
  std::uint32_t ended = 0;                  ///< lanes that have no steps left
  std::uint32_t untold = 0;                 ///< lanes that may still touch the user's buffers
  std::uint32_t looks = 0;                  ///< how often its lanes have been looked at
  std::uint32_t failures = 0;               ///< transfers that could not begin
  std::uint32_t own = 0;                    ///< posted steps of which this member waits for the end
  core::Clock::time_point peers_checked{};  ///< EndpointState's, when it has last looked at the others
  std::uint64_t native_number =
      0;          ///< of the conduit's operation that carries it out; 0: not started, or none does
  BoardOp board;  ///< of a call on the team's board, which has no lanes
  bool on_board = false;
  bool begun = false;  ///< the lanes may run
  bool complete = false;
  // Of a run that carries out a whole call: TeamEngine::start_again.
  bool serves_again = false;         ///< the next such call differs in addresses, number and portion alone
  Counter first_wait = kNoCounter;   ///< nothing can be done before this counter is raised
  std::uint64_t* counted = nullptr;  ///< the calls of its algorithm, for statistics
  std::unique_ptr<RunRedirects> redirects;  ///< null: none of its record's runs has had any
  core::Op sources;  ///< has a part for each put whose source is in use, and one of its own

  bool is_drained() const noexcept {
    return complete && ended == lane_count && own == 0 && sources.parts == 1;
  }
  /// After a look in vain: whether it is time to look at what the others do. In a wait that sleeps there are few looks, but peers
  /// are checked at times: `checked` is when the endpoint has last done so.
  bool waits_long(const core::Clock::time_point& checked) noexcept {
    // Chosen: a few microseconds, beside which one look at all is little; and most waits end before.
    constexpr std::uint32_t kLooksAtOthers = 256;
    constexpr std::uint32_t kFewLooks = 16;
    if (++looks % kLooksAtOthers != 0 && (looks < kFewLooks || peers_checked == checked)) return false;
    peers_checked = checked;
    return true;
  }
};

/// A collective call under way on this member.
struct CallRecord {
  /// `blocks`: a call whose blocks may differ; it opens its runs by itself.
  enum class Kind : std::uint8_t { call, blocks } kind = Kind::call;
  CallRecord* next = nullptr;  ///< of the team, in the order of the calls; or in the pool
  core::Op* op = nullptr;      ///< the caller's; null when it has ended
  struct Plan* plan = nullptr;
  KnownCall* call = nullptr;
  CallMemory memory{};       ///< of the first call whose record this is: its run has those of the present one
  std::uint64_t number = 0;  ///< of the call; calls of a team are numbered 1, 2, …
  std::uint64_t unit = 1;    ///< what one raise of a counter adds
  // How many of its runs are.
  std::uint32_t opened = 0;
  std::uint32_t completed = 0;
  std::uint32_t drained = 0;

  const Method& method() const noexcept { return *call->method; }
};

/// What keeps a start of a plan from being a call of its KnownCall. Asked before the endpoint is entered, where another thread may
/// change it; changed inside only.
class Obstacles {
 public:
  bool none() const noexcept { return bits_.load(std::memory_order_relaxed) == 0; }
  bool has(std::uint8_t bit) const noexcept { return (bits_.load(std::memory_order_relaxed) & bit) != 0; }
  void add(std::uint8_t bit) noexcept { set(bits_.load(std::memory_order_relaxed) | bit); }
  void remove(std::uint8_t bit) noexcept { set(bits_.load(std::memory_order_relaxed) & ~bit); }
  void set(int bits) noexcept { bits_.store(static_cast<std::uint8_t>(bits), std::memory_order_relaxed); }

 private:
  std::atomic<std::uint8_t> bits_{0};
};

/// A call whose arguments are bound.
struct Plan {
  TeamEngine* engine = nullptr;  ///< null: the team has ended
  Plan* next = nullptr;          ///< the plans of a team
  PlanRecord* record = nullptr;  ///< what the program's CollPlan points to
  KnownCall* call = nullptr;     ///< null: the team has ended
  std::uint32_t held = 0;        ///< records of calls that still name it
  Obstacles obstacles;
  bool dropped = false;    ///< the program has given it up
  bool team_gone = false;  ///< the Team object is gone or may go, though the engine is still there

  static constexpr std::uint8_t kRuns = 1;      ///< the last start is not over
  static constexpr std::uint8_t kIndirect = 2;  ///< its team has one member, or its blocks may differ
  static constexpr std::uint8_t kClosed = 4;    ///< the team has ended
  bool runs() const noexcept { return obstacles.has(kRuns); }
  /// Requires: the team has not ended.
  CallMemory memory() const noexcept { return {call->request.in.mine, call->request.out.mine}; }
};

}  // namespace aqueduct::coll
