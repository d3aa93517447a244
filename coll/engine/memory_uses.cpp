// What of the program's memory the teams still use, for calls that take it away or give it to another team.

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <cstdint>

namespace aqueduct::coll {

namespace {

bool overlap(core::Bytes a, core::Bytes b) noexcept {
  const auto begin = [](core::Bytes bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); };
  return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size() && begin(b) < begin(a) + a.size();
}

/// Whether a buffer of a plan begins in the memory, or is in the segment on a member.
bool lies_in(const Buffer& buffer, core::Bytes memory, SegmentId segment, Rank members) noexcept {
  if (buffer.mine != nullptr && overlap({buffer.mine, 1}, memory)) return true;
  if (buffer.known == Buffer::Known::here) return false;
  for (Rank i = 0; i < (buffer.known == Buffer::Known::common ? 1 : members); ++i) {
    if (buffer.of(i, 0).segment() == segment) return true;
  }
  return false;
}

}  // namespace

core::Bytes TeamEngine::scratch_memory() const noexcept {
  return scratch_ ? core::Bytes{base_, scratch_->layout().bytes()} : core::Bytes{};
}

const char* TeamEngine::use_of(core::Bytes memory, SegmentId segment) const noexcept {
  if (overlap(scratch_memory(), memory))
    return "it is the scratch of a team (use_scratch): give that team other scratch, or end it";
  // Plans of a team that is broken are never started again.
  for (const Plan* plan = broken_.ok() ? plans_ : nullptr; plan != nullptr; plan = plan->next) {
    if (plan->dropped || plan->call == nullptr) continue;
    const Request& request =
        plan->call->blocks != nullptr ? plan->call->blocks->request : plan->call->request;
    if (lies_in(request.in, memory, segment, ranks_) || lies_in(request.out, memory, segment, ranks_))
      return "a plan is bound to buffers in it: end the plan first (CollPlan::end)";
  }
  return nullptr;
}

const char* Collectives::use_of(core::Bytes memory, SegmentId segment) const noexcept {
  for (const auto& [id, team] : teams_) {
    if (const char* const use = team.engine->use_of(memory, segment)) return use;
  }
  return nullptr;
}

bool Collectives::is_scratch_of_another(const TeamState& team, core::Bytes memory) const noexcept {
  for (const auto& [id, other] : teams_) {
    if (id != team.id && overlap(other.engine->scratch_memory(), memory)) return true;
  }
  return false;
}

}  // namespace aqueduct::coll
