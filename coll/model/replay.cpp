#include "coll/model/replay.hpp"

#include "coll/model/few_members.hpp"
#include "coll/model/replay_ahead.hpp"
#include "coll/model/replay_lanes.hpp"
#include "coll/model/replay_state.hpp"
#include "coll/model/replay_stepped.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

void Links::announce(Rank, Rank, bool) {}

const char* problem_of(const Machine& machine) noexcept {
  if (machine.levels.empty()) return "a machine has at least one level";
  for (const Machine::Level& level : machine.levels) {
    if (level.group == 0) return "a level of a machine has groups of no ranks";
    if (level.link.latency == 0) return "the latency of a machine is at least a picosecond";
    for (const Machine::Longer& row : level.longer) {
      if (row.link.latency == 0) return "the latency of a machine is at least a picosecond";
    }
  }
  if (machine.host == 0) return "a host of a machine has no ranks";
  return nullptr;
}

namespace {

/// Why this cannot be replayed; empty if it can.
std::string refusal(std::span<const ReplayedCall> calls, const Machine& machine,
                    const ReplayOptions& options) {
  if (calls.empty()) return "there is no call to replay";
  if (const char* const problem = problem_of(machine); problem != nullptr) return problem;
  if (options.detours.period != 0 && options.detours.length >= options.detours.period)
    return "stops must be shorter than their period";
  for (const Machine::Level& level : machine.levels) {
    if (options.links != nullptr && !level.longer.empty())
      return "with shared links, messages of all sizes have the same costs";
  }
  const Rank ranks = calls.front().shape.ranks;
  if (!options.calls.empty() && options.calls.size() != ranks)
    return "there must be a time for each member's call";
  if (!machine.slots.empty() && machine.slots.size() != ranks) return "there must be a slot for each member";
  if (calls.size() > 200) return "at most 200 calls are replayed at once";
  for (const ReplayedCall& call : calls) {
    if (call.shape.ranks != ranks) return "all calls are of one team";
    if (const char* const why = Schedule::refusal(*call.algorithm, call.shape); why != nullptr) return why;
    if (!call.blocks.empty() && call.blocks.size() != ranks)
      return "there must be a view of the blocks for each member";
    if (call.algorithm->native) return "the conduit carries it out, so there are no messages to replay";
  }
  return {};
}

bool has_one_lane(std::span<const ReplayedCall> calls) noexcept {
  return calls.size() == 1 && ReplayState::lanes_of_call(calls) == 1;
}

/// With members that run ahead of the windows. False: they do what must be stepped.
template <class Way>
bool replayed_by(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options,
                 Replayed& out) {
  constexpr std::uint32_t kLooked = 64;  // chosen: members that get do so at the beginning
  TeamSchedule schedule(*calls.front().algorithm, calls.front().shape);
  schedule.take_blocks(calls.front().blocks);
  if (few_have(schedule, kLooked, Way::must_step)) return false;
  ReplayState state(calls, machine, options);
  if (!Way(state).run()) return false;
  state.finish();
  out = std::move(state.out);
  return true;
}

bool replayed_ahead(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options,
                    Replayed& out) {
  if (options.watcher != nullptr || machine.shares_cores() || calls.size() != 1) return false;
  return has_one_lane(calls) ? replayed_by<ReplayAhead>(calls, machine, options, out)
                             : replayed_by<ReplayLanes>(calls, machine, options, out);
}

}  // namespace

Replayed replay(std::span<const ReplayedCall> calls, const Machine& machine, const ReplayOptions& options) {
  Replayed out;
  out.problem = refusal(calls, machine, options);
  if (!out.problem.empty() || replayed_ahead(calls, machine, options, out)) return out;
  for (const auto ahead : {ReplayStepped::Ahead::hopes, ReplayStepped::Ahead::knows}) {
    ReplayState state(calls, machine, options);
    if (!ReplayStepped(state).run(ahead)) continue;
    state.finish();
    return std::move(state.out);
  }
  return out;  // not reached: with knowledge it fits
}

Replayed replay(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
                const ReplayOptions& options) {
  const ReplayedCall call{&algorithm, shape};
  return replay({&call, 1}, machine, options);
}

std::uint64_t replay_memory(std::span<const ReplayedCall> calls) {
  const std::uint64_t each =
      ReplayState::bytes_of_member(calls) +
      (has_one_lane(calls) ? ReplayAhead::kBytesOfMember
                           : ReplayStepped::kBytesOfMember + calls.size() * ReplayStepped::kBytesOfCall);
  return each * calls.front().shape.ranks;
}

}  // namespace aqueduct::coll
