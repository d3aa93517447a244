#pragma once

#include "runtime/job_impl.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::runtime {

// What the ranks tell each other about their endpoints when a job starts.

/// The segments of every endpoint: the primary one; signal counters and the memory of collectives.
inline constexpr SegmentId kOwnSegments = 2;

/// Allocates the segments of an endpoint, into `mine`. Writes what other ranks need in order to reach it: `to_near` for
/// ranks of this host, `to_far` for the others.
Status describe_endpoint(Job::Impl& job, EndpointParts& parts, std::vector<LocalPart>& mine,
                         BlobWriter& to_near, BlobWriter& to_far);

/// What the ranks have written about their endpoints on one conduit, by rank.
struct Reached {
  std::vector<Blob> addresses;
  std::vector<std::uint64_t> max_packets;
  core::AtomicSet atomics = core::AtomicSet::whole();        ///< the atomics that it does on every rank
  core::WholeWords words = core::WholeWords::puts_and_gets;  ///< the least of all ranks

  void read(BlobReader& in) {
    addresses.push_back(in.bytes());
    max_packets.push_back(in.number());
    atomics &= core::AtomicSet(in.number());
    words = std::min(words, static_cast<core::WholeWords>(in.number()));
  }
};

/// What the last exchange has gathered: what all ranks have written, by rank.
struct GatheredData {
  Reached near;
  Reached far;
  std::uint64_t least_transfer = ~std::uint64_t{0};          ///< of all ranks
  bool through_sockets = false;                              ///< of any rank
  std::vector<std::uint64_t> processors;                     ///< [rank] that its host has; the most: no limit
  std::vector<bool> has_near;                                ///< [rank]
  std::vector<std::uint64_t> near_collectives;               ///< [rank]
  std::vector<std::uint64_t> far_collectives;                ///< [rank]
  std::shared_ptr<const std::vector<std::uint64_t>> tuning;  ///< what rank 0 says
  std::vector<std::string> cpus;                             ///< [rank] on which it may run
  std::vector<Blob> parts[kOwnSegments];  ///< not decoded yet: each endpoint reads them for itself
};

/// Reads what the processes have written. Errors: that of the first process that could not start, at its first rank;
/// bootstrap_failed.
Status read_gathered(Job::Impl& job, const std::vector<Blob>& all, GatheredData& gathered);

}  // namespace aqueduct::runtime
