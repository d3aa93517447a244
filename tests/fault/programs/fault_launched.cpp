// fault_launched HOW [FILE]: a rank of a job that any launcher may have started. It prints who it is and, if it
// gets that far, how the job ended for it. HOW: well; abort (rank 0 calls abort); kill (rank 1 is killed);
// leave (rank 1 exits without finish); wait (waits until something else ends the job); both (a second job
// during the first); again (one after the first). With FILE all go on only once that file is there (gate.hpp).

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/programs/gate.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

using namespace aqueduct;

/// Starts a second job in this process.
int start_another() {
  auto job = Job::start();
  Status status = job.status();
  if (status) status = job->endpoint().barrier();
  std::printf("another job: %s\n", status.text().c_str());
  std::fflush(stdout);
  if (status) status = job->finish();
  return status.exit_code();
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 64;
  const std::string_view how = argv[1];
  const char* const file = argc == 3 ? argv[2] : nullptr;
  auto job = Job::start();
  if (!job) {
    std::printf("could not start: %s\n", job.status().text().c_str());
    return job.status().exit_code();
  }
  Endpoint& me = job->endpoint();
  std::printf("pid %d is rank %u of %u, %zu on this host, launcher %s\n", ::getpid(), me.rank(), me.ranks(),
              me.neighbours().size(), std::string(job->launcher()).c_str());
  std::fflush(stdout);
  if (!fault::gate_opens(file)) return 65;
  Status status = me.barrier();
  if (status && how == "abort" && me.rank() == 0) job->abort(7, "rank 0 has had enough");
  if (status && how == "kill" && me.rank() == 1) std::raise(SIGKILL);
  if (status && how == "leave" && me.rank() == 1) std::_Exit(0);
  if (how == "both") {
    const int ended = start_another();
    static_cast<void>(job->finish());
    return ended;
  }
  const bool waits = how != "well" && how != "again";
  if (status && waits) status = wait_until(me, 0, 1, kAnyRank, std::chrono::seconds(35));
  std::printf("rank %u: %s\n", me.rank(), status.text().c_str());
  std::fflush(stdout);
  if (const Status ended = job->finish(); status) status = ended;
  if (how == "again") return start_another();
  return status.exit_code();
}
