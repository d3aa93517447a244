#pragma once

// Machines and shapes for tests of the replay.

#include "coll/model/replay.hpp"
#include "coll/schedule/algorithm.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::coll::replays {

inline Machine machine_of(const LogGP& link) {
  Machine machine;
  machine.levels = {{1, link}};
  return machine;
}

inline Shape shape_of(const Algorithm& algorithm, Rank ranks, std::uint64_t bytes, Sync sync = Sync::none) {
  Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = sync;
  shape.addresses = Addresses::single;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = algorithm.operation == Operation::barrier ? 0 : bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].usual;
  return shape;
}

}  // namespace aqueduct::coll::replays
