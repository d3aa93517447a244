#pragma once

#include "topology/cpu_set.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::topology {

/// Of a place that lies in no domain of a level, or in several.
inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// A way to divide the processors of a host, such as by packages. Each processor is in one domain.
struct Level {
  std::string name;           ///< "package"; "package+numa+l3" if these divide the processors alike
  std::uint32_t domains = 0;  ///< numbered from 0, by the lowest processor
  /// Whether the domains are parts of the machine's memory or share a last cache: data that crosses from one to another
  /// is dear. Not so for what is inside such a domain, as cores.
  bool memory = false;
};

/// What is known of the processors of a host: levels from the whole host to the single core, each of which divides the
/// domains of the one before it.
class Table {
 public:
  /// A level as the machine tells it: for each processor of the table its domain, kNowhere for none.
  struct Found {
    std::string_view name;
    std::vector<std::uint32_t> domain;
    bool memory = false;
  };
  /// Throws std::bad_alloc. `levels` in the order of the names' usual width, widest first. Levels that divide the
  /// processors alike become one; processors in no domain of a level form domains by the level before it. A level that
  /// cuts a domain of its predecessor's successor is left out. The first level is always "host", with one domain.
  static Table of(CpuSet cpus, std::span<const Found> levels);
  /// A host of which nothing is known.
  static Table unknown() { return of({}, {}); }

  const std::vector<Level>& levels() const noexcept { return levels_; }
  const CpuSet& cpus() const noexcept { return cpus_; }
  /// The domain of that level in which all those processors are; kNowhere if there is none. Level 0 has one domain, in
  /// which every place is.
  std::uint32_t domain_of(std::size_t level, const CpuSet& place) const noexcept;

  /// The table as words, for other processes of the host.
  std::vector<std::uint32_t> words() const;
  /// Reads words() from memory that another process has written. False if it is no table; then this is unchanged.
  bool read(std::span<const std::uint32_t> words);

  friend bool operator==(const Table& a, const Table& b) noexcept {
    return a.cpus_ == b.cpus_ && a.domain_ == b.domain_ && a.words() == b.words();
  }

 private:
  std::uint32_t& at(std::size_t level, std::size_t cpu) noexcept {
    return domain_[level * cpus_.size() + cpu];
  }
  std::uint32_t at(std::size_t level, std::size_t cpu) const noexcept {
    return domain_[level * cpus_.size() + cpu];
  }
  void add(const Found& found);

  CpuSet cpus_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> domain_;  // [level][index in cpus_]
};

}  // namespace aqueduct::topology
