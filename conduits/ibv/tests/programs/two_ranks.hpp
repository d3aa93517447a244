#pragma once

#include <aqueduct/aqueduct.hpp>

#include <atomic>
#include <functional>

namespace aqueduct {

/// Runs `act` on two ranks of this process, between barriers. Returns the program's exit status: 0; 1: `act` returned
/// false; 2: there is no job.
inline int run_two_ranks(const std::function<bool(Endpoint&)>& act) {
  auto job = Job::in_process(2);
  if (!job) return 2;
  std::atomic<bool> right = true;
  job->run_each([&](Endpoint& me) {
    if (!me.barrier() || !act(me) || !me.barrier()) right = false;
  });
  return job->finish().ok() && right ? 0 : 1;
}

}  // namespace aqueduct
