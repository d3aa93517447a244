// Compares Aqueduct's vector, indexed and strided transfers with Open MPI's derived datatypes. Two
// ranks that mpirun starts are both an MPI program and an Aqueduct job, and the libraries take
// turns. bench/peers/mpi_vis/run.py starts it.

#include <aqueduct/job.hpp>

#include "bench/peers/mpi_vis/aqueduct_library.hpp"
#include "bench/peers/mpi_vis/mpi_library.hpp"
#include "bench/peers/mpi_vis/need.hpp"
#include "bench/peers/mpi_vis/report.hpp"
#include "bench/peers/mpi_vis/turns.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

namespace {

using namespace peers;

struct Options {
  bool json = false;
  int turns = 7;
  int milliseconds = 30;
  std::string only;
};

/// Waits for the other rank, and makes Aqueduct's progress meanwhile, so that no acknowledgement is outstanding.
void meet(aqueduct::Endpoint& ep) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int here = 0; here == 0;) {
    ep.progress();
    MPI_Test(&request, &here, MPI_STATUS_IGNORE);
  }
}

void measure_all(aqueduct::Endpoint& ep, const Options& options) {
  const std::vector<Layout> layouts = all_layouts();
  std::size_t bytes = 0;
  std::size_t extent = 0;
  for (const Layout& layout : layouts) {
    bytes = std::max(bytes, layout.bytes());
    extent = std::max(extent, layout.extent());
  }
  constexpr std::size_t kPage = 4096;
  // So that returned pieces have the same alignment as those that were sent.
  extent = (extent + kPage - 1) / kPage * kPage;

  MpiLibrary mpi(bytes, extent);
  AqueductLibrary ours(ep, bytes, extent);
  const Report report(options.json);
  const Patience patience{options.turns, std::chrono::milliseconds(options.milliseconds)};
  if (ep.rank() == 0) {
    if (!options.json) std::printf("Aqueduct over %s\n", ep.conduit_of(1).c_str());
    report.head();
  }
  for (const Layout& layout : layouts) {
    if (layout.name().find(options.only) == std::string::npos) continue;
    for (const Operation operation : kOperations) {
      const auto figures = measure({&mpi, &ours}, operation, layout, patience, [&] { meet(ep); });
      if (ep.rank() == 0) report.row(layout, operation, figures[0], figures[1]);
    }
  }
}

int run(const Options& options) {
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks != 2) fail("this needs two ranks: mpirun -n 2 mpi_vis");
  auto job = need(aqueduct::Job::start(), "start");
  aqueduct::Endpoint& ep = job.endpoint();
  if (ep.ranks() != 2 || ep.rank() != static_cast<aqueduct::Rank>(rank)) {
    fail(
        "Aqueduct and MPI do not agree on the ranks; was this built with the MPI of this mpirun, and with "
        "PMIx?");
  }
  measure_all(ep, options);
  need(job.finish(), "finish");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Open MPI's derived datatypes beside Aqueduct's transfers of pieces: mpirun -n 2 mpi_vis");
  app.add_flag("--json", options.json, "one object per line");
  app.add_option("--turns", options.turns, "of each library in each row")->check(CLI::PositiveNumber);
  app.add_option("--ms", options.milliseconds, "of a turn")->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "rows whose shape has this in its name");
  CLI11_PARSE(app, argc, argv);
  const MpiScope mpi(argc, argv);
  return run(options);
}
