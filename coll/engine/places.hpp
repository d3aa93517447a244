#pragma once

#include "core/signals.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Where the memory of a team is on a member.
struct MemberPlace {
  std::uint64_t first_counter = 0;  ///< a signal slot
  std::uint64_t offset = 0;         ///< of the scratch bytes, in
  SegmentId segment = core::kSignalSegment;

  friend bool operator==(const MemberPlace&, const MemberPlace&) = default;
};

/// The places of all members, in team order. Takes no list if they are equal, as those of all ranks usually are.
class TeamPlaces {
 public:
  /// Of a team whose members' places are not known yet.
  TeamPlaces() = default;
  explicit TeamPlaces(std::vector<MemberPlace> places) : places_(std::move(places)) {
    listed_ =
        std::any_of(places_.begin(), places_.end(), [&](const auto& p) { return p != places_.front(); });
    if (listed_) return;
    places_.resize(1);
    places_.shrink_to_fit();
  }
  bool known() const noexcept { return !places_.empty(); }
  /// Requires: known().
  const MemberPlace& operator[](Rank position) const noexcept { return places_[listed_ ? position : 0]; }

 private:
  std::vector<MemberPlace> places_;
  bool listed_ = false;
};

}  // namespace aqueduct::coll
