#pragma once

#include <aqueduct/endpoint.hpp>

#include <span>

namespace aqueduct {

/// Memory that other ranks may read and write: one part on each rank, of whatever size that rank asked for.
///
/// A part keeps its address and stays readable until its job ends, so every GlobalPtr into it stays good.
class Segment {
 public:
  /// Allocates a segment: collective over all ranks of the job, each with its own size, which may be 0.
  ///
  /// Completion: when it returns, every rank knows every size and may use every part.
  /// Errors:     no_memory (more than the machine has), no_space (/dev/shm full), refused (AQUEDUCT_SEGMENTS
  ///             reached), peer_lost. If one rank gets an error all do, and none has the segment.
  ///             in_handler is said to the caller alone, before anything has happened.
  static Result<Segment> create(Endpoint& ep, std::size_t bytes);

  /// Makes the caller's own memory a segment: collective, as `create`. The memory must outlive the job.
  ///
  /// Neighbours in other processes cannot map such memory; the system's cross-memory calls or packets reach it.
  static Result<Segment> attach(Endpoint& ep, std::span<std::byte> memory);

  SegmentId id() const noexcept { return id_; }
  std::span<std::byte> mine() const noexcept { return mine_; }
  /// The `index`-th T of a rank's part.
  template <class T>
  GlobalPtr<T> at(Rank rank, std::uint64_t index = 0) const noexcept {
    return {rank, index * sizeof(T), id_};
  }

 private:
  Segment(SegmentId id, std::span<std::byte> mine) noexcept : id_(id), mine_(mine) {}
  SegmentId id_;
  std::span<std::byte> mine_;
};

}  // namespace aqueduct
