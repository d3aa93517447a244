#pragma once

#include <aqueduct/config.hpp>

#include "coll/schedule/added.hpp"
#include "coll/tune/forced.hpp"

#include <span>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// AQUEDUCT_COLL_BARRIER to AQUEDUCT_COLL_EXSCAN: which algorithm an operation uses. The same on all ranks.
///
/// `auto`, or the name of an algorithm of the operation, perhaps with values of its parameters behind a colon, by place or
/// by name: `k-nomial`, `k-nomial:8`, `k-nomial:8,4`, `k-nomial:radix=8,segments=4`. A parameter that is not named has its
/// usual value; `segments` one that goes with the number of bytes. `native` leaves the operation to the team's conduit: a
/// call that it does not do is refused on all members. Barriers have the algorithms of all-reduces, without `native`; teams that
/// cannot do what the setting asks for choose their barriers as without it.
std::span<const SettingInfo> algorithm_settings() noexcept;
/// Requires: `info` is one of them.
Operation operation_of(const SettingInfo& info) noexcept;

/// What is wrong with a value of one of these settings, with the nearest name; empty if nothing is, or if `info` is
/// another setting. For SettingCatalog::objection.
std::string algorithm_objection(const SettingInfo& info, std::string_view value, AddedSpan added = {});

/// What the settings ask for. A wrong value counts as `auto`; no job starts with one.
ForcedAlgorithms forced_algorithms(const Config& config);

/// A value, read. `problem` is empty if it is good.
struct ForcedRead {
  Forced forced;
  std::string problem;  ///< "there is no such algorithm; it may be …"
};
/// `operation`: that of the algorithm.
ForcedRead read_forced(Operation operation, std::string_view value, AddedSpan added = {});
/// `operation`: that of the calls. Differs from read_forced for barriers, which are carried out as all-reduces.
ForcedRead read_setting_of(Operation operation, std::string_view value, AddedSpan added = {});

}  // namespace aqueduct::coll
