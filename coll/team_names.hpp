#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <map>
#include <span>

namespace aqueduct::coll {

/// The names of the teams that `Team::create` makes: a name stands for a tag and a set of ranks. Under it the members
/// exchange what they need for the team's real id.
///
/// Only one team of a name exists at a time. A team has ended on this rank before this rank makes the next one of the
/// name. So the exchanges of a name follow one another on each member and can be counted, as those of a team are. The
/// count is forgotten when all members have ended the team: then every message under the name has been received.
class TeamNames {
 public:
  /// The name of a tag and a set of ranks, which are in rising order. Never 0.
  static std::uint64_t of(std::uint64_t tag, std::span<const Rank> sorted) noexcept;

  /// Begins the use of a name. Returns its count of exchanges, which keeps its address until `forget`; null if the name
  /// is in use. May throw std::bad_alloc.
  std::uint64_t* open(std::uint64_t name);
  /// Ends the use of a name on this rank alone. The count stays.
  void close(std::uint64_t name) noexcept;
  /// Ends the use of a name on all members, or forever.
  void forget(std::uint64_t name) noexcept { names_.erase(name); }
  /// A number that this rank has never returned before.
  std::uint64_t next_serial() noexcept { return ++serial_; }
  /// The number of names in use or with a count.
  std::size_t kept() const noexcept { return names_.size(); }

 private:
  struct Name {
    std::uint64_t exchanges = 0;
    bool in_use = false;
  };

  std::map<std::uint64_t, Name> names_;
  std::uint64_t serial_ = 0;
};

/// Mixes a number into a hash: the finaliser of SplitMix64. Ids of teams are such hashes, so that members agree on them
/// without a central counter.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) noexcept {
  std::uint64_t x = hash * 0x9e3779b97f4a7c15u + number;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace aqueduct::coll
