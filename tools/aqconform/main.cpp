// aqconform: checks that a conduit does everything that Aqueduct requires. See docs/write-a-conduit.md.

#include "tests/conformance/kit.hpp"
#include "tools/aqconform/fabrics.hpp"
#include "tools/standard_output.hpp"

int main(int argc, char** argv) {
  aqueduct::tools::keep_standard_places();
  const int status = aqueduct::conformance::run_kit(argc, argv, aqueduct::conformance::all_fabrics);
  return aqueduct::tools::after_output("aqconform", status);
}
