// fault_finish_early [sum]: rank 1 calls finish while the others call barrier first, or an all-reduce. That is wrong, but it must
// end.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include <cstdint>
#include <cstdio>
#include <span>

int main(int argc, char**) {
  auto job = aqueduct::Job::start();
  if (!job) return job.status().exit_code();
  aqueduct::Endpoint& me = job->endpoint();
  std::uint64_t one = 1;
  const auto call = [&] {
    return argc > 1 ? all_reduce(me.world(), std::span(&one, 1), aqueduct::ReduceOp::sum) : me.barrier();
  };
  if (me.rank() != 1) std::printf("call %s\n", call().text().c_str());
  std::printf("finish %s\n", job->finish().text().c_str());
  return 0;
}
