#pragma once

#include "core/op.hpp"
#include "core/segment_table.hpp"
#include "vis/cursor.hpp"
#include "vis/plan.hpp"
#include "vis/stages.hpp"
#include "vis/survey.hpp"

namespace aqueduct::vis {

enum class What : std::uint8_t { put, get, accumulate };

/// A transfer under way. Its operation (core::Op) outlives it when only answers are left.
struct Transfer {
  What what = What::put;
  AtomicType type{};
  Plan plan = Plan::packed;
  bool queued = false;
  bool used = false;
  Rank peer = kNoRank;
  SegmentId segment = 0;
  std::uint64_t key = 0;  ///< of the peer's segment, for native operations
  core::Op* op = nullptr;
  Shape there;  ///< by offsets in the segment
  Shape here;   ///< by addresses
  Survey about_there;
  Survey about_here;
  Cursor there_at;
  Cursor here_at;
  std::uint64_t chunks = 0;  ///< under way: a bit for each of the engine's
  Choice choice;
};

/// A part of a get that is on its way: where it goes when it comes.
struct Chunk {
  Transfer* owner = nullptr;  ///< null: free
  std::uint64_t bytes = 0;
  Cursor here;
  // Of a bounding box:
  Cursor there;
  std::uint64_t lowest = 0;
  Stage* stage = nullptr;
  core::Op* op = nullptr;
};

/// Chosen: enough for the bandwidth of a network whose answers take a hundred packets' time.
inline constexpr std::size_t kMostChunks = 64;
static_assert(kMostChunks == 64, "Transfer::chunks has a bit for each");
/// Chosen: so that one peer that does not answer leaves chunks for others.
inline constexpr int kChunksOfOne = 32;

}  // namespace aqueduct::vis
