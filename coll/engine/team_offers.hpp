#pragma once

#include "coll/scratch/hidden_memory.hpp"
#include "coll/scratch/layout.hpp"
#include "core/endpoint_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// The place in segment 1 that a member has for the scratch of a new team. The members exchange their offers with what
/// they exchange anyway when they make the team; an offer travels as it is.
struct TeamOffer {
  std::uint64_t first_counter = 0;  ///< a signal slot of the member
  std::uint64_t offset = 0;         ///< of the first byte, in the member's part of segment 1
  std::uint64_t counters = 0;
  std::uint64_t bytes = 0;  ///< 0: the member has no room, so the team has no scratch

  friend bool operator==(const TeamOffer&, const TeamOffer&) = default;
};
static_assert(sizeof(TeamOffer) == 32);

/// How much a team takes: bytes and counters.
struct ScratchRoom {
  std::uint64_t bytes = 0;
  std::uint64_t counters = 0;
};

/// The least room with which a team of at most so many members has scratch.
ScratchRoom least_room(Rank most_members) noexcept;
/// The sizes of a new team's scratch: what the smallest offers allow. Empty if one member has no room, or too little. The
/// same on all members, since all know all offers.
std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all) noexcept;
/// The offers of all ranks for the team of all ranks, in their order. Known without an exchange: it has the first half of
/// the engine's memory on each rank, or as much as it needs at the least. May throw std::bad_alloc.
std::vector<TeamOffer> world_offers(const aqueduct::detail::EndpointState& state);

/// This rank's places for teams other than that of all ranks.
class TeamOffers {
 public:
  /// Of layers that take offers.
  static constexpr SettingInfo kSetting{
      "coll_team_scratch",
      "AQUEDUCT_COLL_TEAM_SCRATCH",
      SettingType::bytes,
      "bytes",
      "256K",
      "Memory that a rank offers for the collectives of a team, if it has so much; the least offer counts.",
      4 << 10,
      1 << 30};

  /// Requires: segment 1 is there.
  explicit TeamOffers(aqueduct::detail::EndpointState& state);

  /// Takes a place for a team of at most so many members. Its counters hold 0. It gets an eighth of what is free, but no
  /// more than AQUEDUCT_COLL_TEAM_SCRATCH and no less than least_room; without that room, `bytes` is 0.
  TeamOffer take(Rank most_members) noexcept;
  /// Gives a place back, for another team. Does nothing for an offer without bytes, and for that of the team of all ranks.
  /// Requires: nothing of the team arrives any more.
  void give_back(const TeamOffer& mine) noexcept;

  /// The memory of an offer of this rank, also of the one for the team of all ranks.
  std::span<std::uint64_t> counters_of(const TeamOffer& mine) const noexcept;
  std::byte* bytes_of(const TeamOffer& mine) const noexcept { return part_ + mine.offset; }
  HiddenMemory& memory() noexcept { return memory_; }

 private:
  TeamOffers(aqueduct::detail::EndpointState& state, const TeamOffer& world);

  std::byte* part_;              ///< mine of segment 1
  std::uint64_t most_bytes_;     ///< of an offer
  std::uint64_t first_counter_;  ///< where `memory_` begins: a slot
  std::uint64_t first_byte_;     ///< likewise: an offset in the part
  HiddenMemory memory_;
};

}  // namespace aqueduct::coll
