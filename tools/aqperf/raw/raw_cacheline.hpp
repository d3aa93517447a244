#pragma once

#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/measure/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::perf {

/// The fastest answer that another core can give: each rank of a pair waits for a cache line
/// in its own memory, which the other writes.
class CacheLinePingPong {
 public:
  /// Collective. Not usable if ranks share cores or the peer's memory cannot be mapped.
  CacheLinePingPong(Session& session, Role role);

  bool usable() const noexcept { return usable_; }
  /// `turns` round trips; to be called at both ranks of the pair.
  void run(std::uint64_t turns) noexcept;
  /// Nanoseconds of a round trip now, measured by rank 0's pair. Collective.
  std::optional<double> probe(Session& session);

 private:
  Role role_;
  Patience patience_;
  std::uint64_t* mine_ = nullptr;
  std::uint64_t* theirs_ = nullptr;
  std::uint64_t* turns_ = nullptr;
  bool usable_ = false;
};

/// The comparator based on it.
Raw raw_cacheline(Session& session, Role role);
/// The comparator of an operation that waits for another rank, with `bytes` bytes each way: plain sockets over
/// sockets, raw_yield where ranks share cores, else cache lines.
Raw raw_answer(Session& session, Role role, std::size_t bytes);

}  // namespace aqueduct::perf
