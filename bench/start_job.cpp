// Starts a job and ends it; bench/start_under_mpirun.py measures it.

#include <aqueduct/aqueduct.hpp>

int main() {
  auto job = aqueduct::Job::start();
  return job ? job->finish().exit_code() : job.status().exit_code();
}
