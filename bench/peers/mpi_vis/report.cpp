#include "bench/peers/mpi_vis/report.hpp"

#include <cstdio>

namespace peers {

namespace {

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::put: return "put";
    case Operation::get: return "get";
    case Operation::exchange: return "send";
  }
  return "";
}

}  // namespace

void Report::head() const {
  if (json_) return;
  std::printf("%-16s %-4s %8s  %12s %25s  %12s %25s  %6s\n", "shape", "op", "bytes", "MPI ns", "p10 to p90",
              "ours ns", "p10 to p90", "ratio");
}

void Report::row(const Layout& layout, Operation operation, const Figure& mpi, const Figure& ours) const {
  const double ratio = mpi.median / ours.median;
  if (json_) {
    std::printf(
        R"({"shape": "%s", "piece": %zu, "op": "%s", "bytes": %zu, "mpi_ns": %.1f, "mpi_p10": %.1f, "mpi_p90": %.1f, )"
        R"("ours_ns": %.1f, "ours_p10": %.1f, "ours_p90": %.1f, "ratio": %.3f})"
        "\n",
        layout.name().c_str(), layout.piece(), name_of(operation), layout.bytes(), mpi.median, mpi.p10,
        mpi.p90, ours.median, ours.p10, ours.p90, ratio);
  } else {
    std::printf("%-16s %-4s %8zu  %12.0f %12.0f %12.0f  %12.0f %12.0f %12.0f  %6.2f%s\n",
                layout.name().c_str(), name_of(operation), layout.bytes(), mpi.median, mpi.p10, mpi.p90,
                ours.median, ours.p10, ours.p90, ratio, ratio < 1 ? "  behind" : "");
  }
  std::fflush(stdout);
}

}  // namespace peers
