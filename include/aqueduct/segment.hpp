#pragma once

#include <aqueduct/endpoint.hpp>

#include <span>

namespace aqueduct {

/// Memory that other ranks may read and write. Each rank has one part, of the size that it asked for.
///
/// Lifetime: a part keeps its address, and stays accessible, until the job ends. So GlobalPtrs into it stay valid.
class Segment {
 public:
  /// Allocates a segment: collective over all ranks of the job. Each rank chooses the size of its part.
  ///
  /// Units:      bytes; 0 is legal.
  /// Completion: when it returns, every rank knows every size and may use every part.
  /// Errors:     no_memory (more than the machine has), no_space (/dev/shm full), refused (AQUEDUCT_SEGMENTS
  ///             reached), peer_lost. If one rank gets an error, all ranks do, and the segment does not exist.
  ///             in_handler is returned to the caller only, before anything has happened.
  static Result<Segment> create(Endpoint& ep, std::size_t bytes);

  /// As `create`, with the caller's own memory as this rank's part.
  ///
  /// Neighbours in other processes cannot map such memory; they use the system's cross-memory calls, or packets.
  ///
  /// Lifetime:           the memory until the job ends.
  /// Completion, Errors: as `create`.
  static Result<Segment> attach(Endpoint& ep, std::span<std::byte> memory);

  SegmentId id() const noexcept { return id_; }
  /// This rank's part.
  std::span<std::byte> mine() const noexcept { return mine_; }
  /// Points to element `index` of a rank's part, seen as an array of T.
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
