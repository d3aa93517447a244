#pragma once

#include <aqueduct/status.hpp>

#include <cstdint>

namespace aqueduct::coll {

/// The calls of teams that are no operations of the engine: they make or end something that all members make or end together,
/// by exchanges over the network, which are counted per team. What the engine must know of them if members differ.
class SetUpCalls {
 public:
  /// The number of the exchange of the team in which this rank is and waits; 0: it is in none. In an exchange
  /// behind one that was given up, the number of that one: who asks does not know of it yet, and must not give up another
  /// (decision 142).
  virtual std::uint64_t under_way(std::uint64_t team) const noexcept = 0;
  /// How many exchanges of the team this rank has begun.
  virtual std::uint64_t begun(std::uint64_t team) const noexcept = 0;
  /// A member has found that some members are in the first exchange of a call, and others in a call that does not exchange.
  /// So it will never be over, and nobody takes part any more: this rank leaves it, or will not begin it. The exchanges stay
  /// in step. If this rank's team was broken when it began that exchange, it is in its next call, and begins again with the
  /// next number. Returns whether its call ends.
  virtual bool give_up(std::uint64_t team, std::uint64_t number, Status why) noexcept = 0;
  /// Whether this rank is in Job::finish, and so makes no further call of any team.
  virtual bool finishing() const noexcept = 0;

 protected:
  ~SetUpCalls() = default;
};

}  // namespace aqueduct::coll
