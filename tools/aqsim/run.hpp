#pragma once

#include "coll/tune/chooser.hpp"
#include "tools/aqsim/options.hpp"

namespace aqueduct::aqsim {

/// Simulates what the options say, and prints it. Returns the exit status. Errors: BadInput.
int run(const Options& options);

/// An algorithm with its parameters set in a shape.
struct Chosen {
  const coll::Algorithm* algorithm = nullptr;
  coll::Shape shape;
};
/// The algorithms that the options name for this shape and team: one, or for "all" those that can do it. Errors: BadInput.
std::vector<Chosen> choose(const Options& options, coll::Shape shape, const coll::TeamTraits& team);

/// Prints what the simulator makes of the curves of the source beside the source's own figures; see curves.hpp.
int curves(bool as_json);

}  // namespace aqueduct::aqsim
