#pragma once

#include <aqueduct/status.hpp>

#include <cstdint>

namespace aqueduct::coll {

/// The calls of teams that are no operations of the engine: they make or end something that all members make or end together,
/// by exchanges over the network, which are counted per team. What the engine must know of them if members differ.
class SetUpCalls {
 public:
  /// The number of the exchange of the team in which this rank is; 0: it is in none.
  virtual std::uint64_t under_way(std::uint64_t team) const noexcept = 0;
  /// How many exchanges of the team this rank has begun.
  virtual std::uint64_t begun(std::uint64_t team) const noexcept = 0;
  /// Another member is in a call that does not exchange: ends this rank's waits in that exchange, and in the one with which
  /// its call tells the others how it has ended. False: this rank is not in it.
  virtual bool give_up(std::uint64_t team, std::uint64_t number, Status why) noexcept = 0;

 protected:
  ~SetUpCalls() = default;
};

}  // namespace aqueduct::coll
