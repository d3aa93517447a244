// aqconform: checks that a conduit does everything that Aqueduct requires. See docs/write-a-conduit.md.

#include "tests/conformance/kit.hpp"
#include "tools/aqconform/fabrics.hpp"

int main(int argc, char** argv) {
  return aqueduct::conformance::run_kit(argc, argv, aqueduct::conformance::all_fabrics);
}
