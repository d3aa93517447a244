#pragma once

#include "tools/aqcheck/check.hpp"

#include <cstdint>

namespace aqueduct::aqcheck {

/// What the literature says that an operation sends. It knows nothing of the algorithm's code: formulas are written again
/// from the study behind the collectives, which has its sources beside them.
struct Studied {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint32_t depth = 0;
  bool fewer_messages = false;  ///< `messages` is a limit
  bool less_depth = false;      ///< `depth` is a limit
};

/// A row of the study: the files study_*.cpp have them.
struct StudyEntry {
  coll::Operation operation;
  const char* algorithm;
  /// Without the passes of Sync::all. Not asked for one member or empty blocks, unless it is a barrier.
  Studied (*formula)(const coll::Shape&);
  /// Where and why the algorithm differs from the study; empty if it does not.
  const char* differs;
};

/// Null if the study does not have the algorithm.
const StudyEntry* find_in_study(const coll::Algorithm& algorithm) noexcept;

/// The formula with the passes of Sync::all added.
Studied studied(const StudyEntry& entry, const coll::Shape& shape);

}  // namespace aqueduct::aqcheck
