// fault_finish_early: rank 1 calls finish while the others call barrier first. That is wrong, but it must end.

#include <aqueduct/aqueduct.hpp>

#include <cstdio>

int main() {
  auto job = aqueduct::Job::start();
  if (!job) return job.status().exit_code();
  aqueduct::Endpoint& me = job->endpoint();
  if (me.rank() != 1) std::printf("barrier %s\n", me.barrier().text().c_str());
  std::printf("finish %s\n", job->finish().text().c_str());
  return 0;
}
