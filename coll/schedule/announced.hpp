#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/passes.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// An algorithm that writes into the outputs of peers, for members that do not know where these are: each tells its peers
/// first. This is rendezvous, made from any `direct` algorithm.
///
/// For Addresses::announced, as most do for Sync::mine, a direct algorithm signals to each peer that writes into a member's
/// output that the member has called. Here each of these signals carries an address (`Space::where`), which the peer finds in a slot of its scratch, and its
/// puts go behind that address (`Space::told`). A member announces its output if peers reach it, because it is in a
/// segment. If not, it announces room in its scratch and copies from there at the end (`Space::landed`). Its peers need not
/// know which: the messages are the same.
///
/// Scratch: a slot for each member, room for what peers bring, the algorithm's own. Temporary memory: the algorithm's own,
///          then an announcement for each peer.
class Announced {
 public:
  Announced(const Algorithm& algorithm, const Shape& shape) noexcept;

  /// Whether members must announce their outputs. So they do whatever the sync mode.
  static bool needed(const Algorithm& algorithm, const Shape& shape) noexcept {
    return algorithm.direct && shape.addresses == Addresses::local;
  }

  Needs needs() const noexcept;
  Cost cost() const noexcept;
  std::uint32_t length(Rank position, std::uint32_t lane) const noexcept;
  Step step(Rank position, std::uint32_t lane, std::uint32_t index) const noexcept;

 private:
  std::uint32_t copies(Rank position, std::uint32_t lane) const noexcept;
  Step copy(Rank position, std::uint32_t which) const noexcept;
  Place landing(Rank position, Rank writer) const noexcept;
  /// Of a member, among the slots of all. Counted from the root, so that another root only shifts the members.
  std::uint64_t slot_of(Rank member) const noexcept {
    return relative(member, asking_.root, asking_.ranks) * kAnnouncementBytes;
  }

  const Algorithm& algorithm_;
  Shape asking_;  ///< as the algorithm sees it
  std::uint64_t landing_at_ = 0;
  std::uint64_t own_at_ = 0;  ///< the algorithm's own scratch
  std::uint64_t temp_at_ = 0;
};

}  // namespace aqueduct::coll
