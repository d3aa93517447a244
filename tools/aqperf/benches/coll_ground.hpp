#pragma once

#include <aqueduct/coll.hpp>

#include "coll/tune/chooser.hpp"
#include "tools/aqperf/measure/sampler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::perf {

/// Buffers for collective calls of all ranks, root 0: a segment, and private memory of the same size.
class CollGround {
 public:
  /// Collective. `calls`: how many may be in flight at once.
  CollGround(Session& session, Collective operation, std::size_t most_bytes, unsigned calls);

  Collective operation() const noexcept { return operation_; }
  /// Call `number` with blocks of `bytes` bytes, in the form of the options.
  detail::CollCall call(std::size_t bytes, unsigned number = 0) const;
  /// How the library carries it out. No algorithm: on a single rank.
  coll::Choice choice(std::size_t bytes) const;
  /// Adds what the library has chosen for blocks of `bytes` bytes to a row.
  void describe_choice(Row& row, std::size_t bytes) const;
  /// Writes to each cache line of this rank's buffers of a call with such blocks, so that they are in its cache, and in no other
  /// one (Modified). Requires: the call is not a barrier.
  void write_buffers(std::size_t bytes);
  /// The most bytes that a rank has in one buffer of a call.
  std::size_t buffer_bytes(std::size_t bytes) const noexcept;

  GlobalPtr<std::byte> there(Rank rank, std::uint64_t offset = 0) const noexcept {
    return segment_.at<std::byte>(rank, offset);
  }
  std::span<std::byte> mine() const noexcept { return segment_.mine(); }
  std::span<std::byte> here() const noexcept { return here_; }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };

  detail::CollBuffer buffer(std::size_t offset, std::size_t bytes) const;

  Session* session_;
  Collective operation_;
  std::size_t blocks_in_;
  std::size_t blocks_out_;
  std::size_t in_room_;
  std::size_t call_room_;
  std::vector<Line> memory_;
  std::span<std::byte> here_;
  Segment segment_;
};

/// The comparator of a blocking call: see the top of coll_raw.cpp. Collective.
Raw raw_coll(Session& session, CollGround& ground, std::size_t bytes);

/// The row of --overlap: see the top of coll_overlap.cpp. Collective.
Row overlap_row(Session& session, const CollGround& ground, std::size_t bytes);

}  // namespace aqueduct::perf
