#pragma once

#include "tools/aqperf/patience.hpp"
#include "tools/aqperf/sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::perf {

/// The fastest answer that another core can give: each of a pair waits for a cache line of its own memory,
/// which the other writes.
class CacheLinePingPong {
 public:
  /// Collective. Not usable where ranks must share cores, or a peer's memory cannot be mapped.
  CacheLinePingPong(Session& session, Role role);

  bool usable() const noexcept { return usable_; }
  /// There and back, `turns` times; both of the pair call it.
  void run(std::uint64_t turns) noexcept;
  /// Nanoseconds there and back just now, as rank 0's pair sees it. Collective.
  std::optional<double> probe(Session& session);

 private:
  Role role_;
  Patience patience_;
  std::uint64_t* mine_ = nullptr;
  std::uint64_t* theirs_ = nullptr;
  std::uint64_t* turns_ = nullptr;
  bool usable_ = false;
};

/// The comparator made of it.
Raw raw_cacheline(Session& session, Role role);
/// The comparator of whatever waits for another rank, with so many bytes each way: over sockets bare ones, where ranks
/// share cores raw_yield, else cache lines.
Raw raw_answer(Session& session, Role role, std::size_t bytes);

}  // namespace aqueduct::perf
