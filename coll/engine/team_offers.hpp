#pragma once

#include "coll/scratch/hidden_memory.hpp"
#include "coll/scratch/layout.hpp"
#include "coll/shared/board_lines.hpp"
#include "core/endpoint_state.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::coll {

/// The place in segment 1 that a member has for the scratch of a new team. The members exchange their offers with what
/// they exchange anyway when they make the team (coll/team_terms.hpp); an offer travels as it is.
struct TeamOffer {
  std::uint64_t first_counter = 0;  ///< a signal slot of the member
  std::uint64_t offset = 0;         ///< of the first byte, in the member's part of segment 1
  std::uint64_t counters = 0;
  std::uint64_t bytes = 0;  ///< 0: the member has no room, so the team has no scratch; or it is alone

  friend bool operator==(const TeamOffer&, const TeamOffer&) = default;
};
static_assert(sizeof(TeamOffer) == 32);

/// What a member has for the scratch that its team is to get in place of the one it has. Travels as it is.
struct ScratchProposal {
  static constexpr std::uint64_t kForm = 0x73637261'74636801;  ///< tells it from what other calls exchange
  std::uint64_t form = kForm;
  TeamOffer offer;           ///< of the library's own memory
  std::uint64_t offset = 0;  ///< of the program's piece, in its segment
  std::uint64_t bytes = 0;
  std::uint32_t segment = 0;
  std::uint32_t given = 0;  ///< 0: the program has given no piece
};
static_assert(sizeof(ScratchProposal) == 64);

/// How much a team takes: bytes and counters.
struct ScratchRoom {
  std::uint64_t bytes = 0;
  std::uint64_t counters = 0;
};

/// The least room that a team of at most that many members needs for its scratch.
ScratchRoom least_room(Rank members) noexcept;
/// What the team of all ranks has: the first half of the engine's memory, or as much as it needs at the least, and the
/// counters that it can use with that, but no more than half of them.
ScratchRoom world_room(const core::HiddenSizes& sizes, Rank ranks) noexcept;
/// The sizes of a new team's scratch: what the smallest offers allow. Empty if one member has no room, or too little. The
/// same on all members, since all know all offers.
std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all) noexcept;
/// The same, for a team that has a board in front of its scratch.
std::optional<ScratchSizes> agreed_sizes(std::span<const TeamOffer> all, const BoardRoom& board) noexcept;
/// The board of a new team whose members share memory, and perhaps processors: what the smallest offer allows.
BoardRoom agreed_board(std::span<const TeamOffer> all, bool crowded) noexcept;
/// The offers of all ranks for the team of all ranks, in their order. Known without an exchange. May throw std::bad_alloc.
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
      "64K",
      "Memory that a rank offers for the collectives of a team, if it has so much; the least offer counts.",
      4 << 10,
      1 << 30};

  /// Requires: segment 1 is there.
  explicit TeamOffers(aqueduct::detail::EndpointState& state);

  /// Takes a place for a team of that size. Its counters hold 0. A team of one needs none, and `bytes` is 0.
  ///
  /// Half of the memory for teams is loose: a team gets a quarter of what is left of it, but no more than
  /// AQUEDUCT_COLL_TEAM_SCRATCH. The other half is kept for teams that get least_room, so teams that are made early do not
  /// leave later ones without scratch. Of the counters an eighth is loose. Without least_room, `bytes` is 0.
  ///
  /// So many teams have scratch at the same time with the default settings (computed; the same for 64 to 16384 ranks, but
  /// for one or two). The first 13 have 64K, or least_room if that is more.
  ///
  ///     members of each     2     4     8    16    64   256  1024  4096  16384
  ///     live teams       1054  1054  1054  1031   436   143    49    15      3
  ///     least_room         1K    1K    1K    1K  2.5K  8.5K   33K  129K   513K
  ///
  /// The team of all ranks has 2M, and beyond 65520 ranks its least_room; it has no scratch beyond 131056 ranks.
  TeamOffer take(Rank members) noexcept;
  /// The least number of counters for a team of that size, and no bytes: it has scratch of the program's own.
  TeamOffer take_counters(Rank members) noexcept;
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
  ScratchRoom all_;  ///< what is free in `memory_` before there is a team
};

}  // namespace aqueduct::coll
