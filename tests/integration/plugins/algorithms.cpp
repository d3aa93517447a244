// Algorithms of a program, for `aqcheck --plugin`: a good one, and one whose last member takes bytes before they are there.
#include <aqueduct/config.hpp>

#include "examples/own_broadcast/greedy_tree.hpp"

namespace {
using namespace aqueduct;

CollectiveAlgorithm hasty() {
  CollectiveAlgorithm wrong = example::greedy_tree();
  wrong.name = "hasty";
  wrong.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    if (member + 1 == call.ranks && member != call.root)
      steps.copy({StepMemory::scratch, 0}, {StepMemory::output, 0}, call.bytes);
    example::greedy_tree().build(call, member, steps);
  };
  return wrong;
}
}  // namespace

extern "C" void aqueduct_algorithms(aqueduct::Config& config) {
  static_cast<void>(config.add_algorithm(example::greedy_tree()));
  static_cast<void>(config.add_algorithm(hasty()));
}
