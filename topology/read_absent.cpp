// Replaces read_hwloc.cpp in a build without hwloc (-DAQUEDUCT_HWLOC=OFF, or AUTO and no libhwloc-dev).

#include "topology/machine.hpp"

namespace aqueduct::topology {

Reading read_machine(const Source& source) {
  Reading reading;
  if (source.kind != Source::Kind::none) {
    reading.problem =
        "this build of Aqueduct has no hwloc: build it where libhwloc-dev is installed, with "
        "-DAQUEDUCT_HWLOC=ON";
  }
  return reading;
}

}  // namespace aqueduct::topology
