#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace aqueduct::conduits::loop {

/// A collective operation that members of a team have started.
struct Gathering {
  explicit Gathering(Rank members)
      : parts(members), results(members), here(members, false), computed(members, false) {}

  /// Computes what a member gets, by its own functions and from the inputs of all. Does nothing if there is no memory now,
  /// or if it is done. Requires: all have started it, and nobody has given it up.
  void compute(Rank member) noexcept;

  std::vector<core::NativeCall> parts;          ///< [member]: what it has started
  std::vector<std::vector<std::byte>> results;  ///< [member]: what it gets
  std::vector<bool> here;                       ///< [member]: it has started, and has not given up
  std::vector<bool> computed;                   ///< [member]
  Rank started = 0;
  Rank results_there = 0;
  Rank collected = 0;     ///< members that know how it has ended
  bool done = false;      ///< all results are there: no input is needed any more
  bool differs = false;   ///< members have started different calls: nothing moves
  bool given_up = false;  ///< a member has given it up: nothing moves
};

/// Where the members of a team meet: they are ranks of one process, so their operations are in its memory. Each reads the
/// inputs of all, and writes its own output only.
///
/// Threads: any, with `mutex`. No member's buffers are touched without it, or after the member has given up.
struct Meeting {
  explicit Meeting(Rank ranks) : members(ranks) {}

  const Rank members;
  std::mutex mutex;
  std::map<std::uint64_t, Gathering> operations;  ///< by number; those that somebody does not know the end of
};

/// The meetings of a network's teams.
///
/// Threads: any.
class Meetings {
 public:
  /// The meeting of the team with this id. May throw std::bad_alloc.
  std::shared_ptr<Meeting> of_team(std::uint64_t id, Rank members);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Meeting>> by_team_;
};

}  // namespace aqueduct::conduits::loop
