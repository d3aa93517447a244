#pragma once

#include "core/memory_patience.hpp"
#include "core/op.hpp"
#include "core/segment_table.hpp"
#include "vis/cursor.hpp"
#include "vis/plan.hpp"
#include "vis/staging_buffers.hpp"
#include "vis/survey.hpp"

namespace aqueduct::vis {

enum class What : std::uint8_t { put, get, accumulate };

/// A transfer that is not completely posted, or waits for data of a get. Its operation (core::Op) lives longer: when
/// only answers of a put are missing, the Transfer is free again.
struct Transfer {
  What what = What::put;
  AtomicType type{};
  Plan plan = Plan::packed;
  bool queued = false;
  bool used = false;
  Rank peer = kNoRank;
  SegmentId segment = 0;
  std::uint64_t key = 0;  ///< key of the peer's segment, for native operations
  core::Op* op = nullptr;
  Shape there;  ///< remote side; places are offsets in the segment
  Shape here;   ///< local side; places are addresses
  Survey about_there;
  Survey about_here;
  Cursor there_at;
  Cursor here_at;
  core::MemoryPatience patience = core::MemoryPatience();  ///< while it waits for room
  std::uint64_t chunks = 0;  ///< chunks in flight: a bit for each chunk of the endpoint
  PlanChoice choice;
};

/// A part of a get in flight: it remembers where the data belongs when it arrives. Taken before the request is posted;
/// freed when the data has been scattered, when the request fails, or when the peer is lost.
struct Chunk {
  Transfer* owner = nullptr;  ///< null: free
  std::uint64_t bytes = 0;
  Cursor here;
  // For the plan "box" only:
  Cursor there;
  std::uint64_t lowest = 0;
  StagingBuffer* stage = nullptr;
  core::Op* op = nullptr;
};

/// Chosen: enough for full bandwidth on a network whose answers take as long as a hundred packets.
inline constexpr std::size_t kMostChunks = 64;
static_assert(kMostChunks == 64, "Transfer::chunks has a bit for each");
/// Chosen: chunks of one transfer at a time, so that a peer that does not answer leaves some for others.
inline constexpr int kChunksOfOne = 32;

}  // namespace aqueduct::vis
