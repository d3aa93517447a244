// The conformance kit over tiny: its fabrics, that is, how ranks are spread over processes, with which settings, and over
// which faults.

#include "tests/conformance/faults/with_faults.hpp"
#include "tests/conformance/kit.hpp"

namespace {

using namespace aqueduct::conformance;

Fabric tiny(const char* name, aqueduct::Rank processes, Settings settings = {}) {
  settings.emplace_back("near", "off");
  return {.name = name, .conduit = TINY_FILE, .settings = settings, .processes = processes};
}

std::vector<Fabric> fabrics(std::uint64_t seed) {
  return {
      tiny("tiny-threads", 1),    // all ranks in one process
      tiny("tiny-processes", 0),  // a process each
      tiny("tiny-narrow", 0, {{"tiny_buffer", "16K"}}),
      with_faults(tiny("tiny-refusing", 1), {.seed = seed, .refuse = 0.3}),
      with_faults(tiny("tiny-late", 1), {.seed = seed, .delay = 0.2, .reorder = 0.3, .repair = 0.02}),
  };
}

}  // namespace

int main(int argc, char** argv) { return run_kit(argc, argv, fabrics); }
