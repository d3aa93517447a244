#pragma once

#include "core/endpoint_state.hpp"
#include "topology/machine.hpp"
#include "topology/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::topology {

using aqueduct::detail::EndpointState;

/// Where the ranks of this host are on its processors, and how these are divided.
///
/// Nothing is read before it is asked for, unless a topology is pretended. Then one rank of the host reads it for all
/// (shared_table.hpp).
///
/// Threads: under the endpoint's lock.
class HostTopology final : public core::Layer {
 public:
  explicit HostTopology(EndpointState& state);
  static std::span<const SettingInfo> settings() noexcept;

  /// Reads at once what the settings pretend. Errors: bad_setting, which the log explains. Throws std::bad_alloc.
  Status check();

  /// The table of this host. Where it cannot be read, one without levels, and `problem` says why. Throws std::bad_alloc.
  const Table& table();
  /// The host's caches, the same on all its ranks: of a pretended topology those that it names, none if the setting is `none`.
  /// The first call reads some files of the system; it loads no hwloc. Throws std::bad_alloc.
  const Caches& caches();
  /// Why there are no levels; empty if there are. Of the last reading.
  const std::string& problem() const noexcept { return problem_; }
  const Source& source() const noexcept { return source_; }
  /// The processors of a rank of this host; empty if they are not known. Throws std::bad_alloc.
  const CpuSet& cpus_of(Rank rank);
  /// At level 0 the number of the rank's host. At the others the domain of a rank of this host, kNowhere for other ranks
  /// and for those that are not bound to processors of one domain. Throws std::bad_alloc.
  std::uint32_t domain_of(Rank rank, std::size_t level);
  /// Orders members of this host by their domains. `members`: indices in a team, `rank_of` gives their ranks. The same on
  /// all ranks of the host. Throws std::bad_alloc.
  Placement place(std::span<const Rank> members, const std::function<Rank(Rank member)>& rank_of);
  /// The levels of memory that divide the ranks of this host into groups (Placement::cuts); the host's own, 0, if the job
  /// has ranks elsewhere.
  std::vector<std::size_t> separating_levels();
  /// Warns, once, on the first rank of the host, if ranks may wander from one memory domain to another.
  void warn_of_floating();
  /// For tests: as if this had been read. `cpus`: by index among the neighbours.
  void pretend(Table table, std::vector<CpuSet> cpus);

 private:
  std::vector<CpuSet> places() const;
  std::byte* shared_memory();

  EndpointState& state_;
  Source source_;
  bool read_ = false;
  bool warned_ = false;
  Table table_ = Table::unknown();
  std::string problem_;
  std::optional<Caches> caches_;
  std::vector<CpuSet> cpus_;           // by index among the neighbours
  std::vector<std::uint32_t> domain_;  // [neighbour][level]
};

}  // namespace aqueduct::topology
