// What of the program's memory the teams still use, for calls that take it away or give it to another team.

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace aqueduct::coll {

namespace {

bool overlap(core::Bytes a, core::Bytes b) noexcept {
  const auto begin = [](core::Bytes bytes) { return reinterpret_cast<std::uintptr_t>(bytes.data()); };
  return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size() && begin(b) < begin(a) + a.size();
}

/// The bytes of a plan's buffer on this member, in which so many equal blocks are, or those that differ and its own.
std::uint64_t length_of(std::uint64_t equal, const std::vector<BlockAt>* differing,
                        const BlockAt& own) noexcept {
  if (differing == nullptr) return equal;
  std::uint64_t end = own.at + own.bytes;
  for (const BlockAt& block : *differing) end = std::max(end, block.at + block.bytes);
  return end;
}

/// Whether a buffer of a plan is in the memory, or in the segment on a member.
bool lies_in(const Buffer& buffer, std::uint64_t bytes, core::Bytes memory, SegmentId segment,
             Rank members) noexcept {
  if (buffer.mine != nullptr && overlap({buffer.mine, bytes}, memory)) return true;
  if (buffer.known == Buffer::Known::here) return false;
  for (Rank i = 0; i < (buffer.known == Buffer::Known::common ? 1 : members); ++i) {
    if (buffer.of(i, 0).segment() == segment) return true;
  }
  return false;
}

}  // namespace

core::Bytes TeamEngine::scratch_memory() const noexcept {
  return layout_ ? core::Bytes{base_, layout_->bytes()} : core::Bytes{};
}

const char* TeamEngine::use_of(core::Bytes memory, SegmentId segment) const noexcept {
  // While another thread makes the team, its members' places are not known: then its scratch is not the program's.
  if (layout_ && places_.known() && places_[position_].segment == segment)
    return "it is the scratch of a team (use_scratch): give that team other scratch, or end it";
  // Plans of a team that is broken are never started again.
  for (const Plan* plan = broken_.ok() ? plans_ : nullptr; plan != nullptr; plan = plan->next) {
    if (plan->dropped || plan->call == nullptr) continue;
    const BlocksCall* const differing = plan->call->blocks;
    const Request& request = differing != nullptr ? differing->request : plan->call->request;
    const Shape& shape = request.shape;
    const std::uint64_t in = length_of(blocks_in(shape, position_) * shape.bytes,
                                       differing != nullptr ? &differing->sends : nullptr,
                                       differing != nullptr ? differing->own_from : BlockAt{});
    const std::uint64_t out = length_of(blocks_out(shape, position_) * shape.bytes,
                                        differing != nullptr ? &differing->receives : nullptr,
                                        differing != nullptr ? differing->own_to : BlockAt{});
    if (lies_in(request.in, in, memory, segment, ranks_) ||
        lies_in(request.out, out, memory, segment, ranks_))
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
