#pragma once

#include "conduits/ucx/counts.hpp"
#include "conduits/ucx/wire.hpp"
#include "core/log.hpp"

#include <cstdint>
#include <string_view>

namespace aqueduct::conduits::ucx {

/// Drops messages that are not of this job or not well-formed.
class MessageFilter {
 public:
  MessageFilter(Rank me, Rank ranks, std::uint64_t job, Counts& counts, core::Log& log)
      : me_(me), ranks_(ranks), job_(static_cast<std::uint32_t>(job)), counts_(counts), log_(log) {}

  /// How messages of this rank start.
  PacketHead own_head() const noexcept { return {me_, job_}; }
  /// Whether a message comes from a peer of this job. Counts it as rejected if not.
  bool is_ours(const PacketHead& head) noexcept {
    const bool ours = head.from < ranks_ && head.from != me_ && head.job == job_;
    if (!ours) reject("a message that is not of this job");
    return ours;
  }
  /// Counts a message that is dropped. The first one is logged, because a rank may wait for it.
  void reject(std::string_view what) noexcept {
    if (counts_.rejected++ == 0) log_.warn("ucx: rank {}: dropped {}; more are only counted", me_, what);
  }

 private:
  Rank me_;
  Rank ranks_;
  std::uint32_t job_;
  Counts& counts_;
  core::Log& log_;
};

}  // namespace aqueduct::conduits::ucx
