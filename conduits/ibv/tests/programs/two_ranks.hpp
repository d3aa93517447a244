#pragma once

#include <aqueduct/aqueduct.hpp>

#include <atomic>
#include <functional>

namespace aqueduct {

/// Runs `act` on two ranks of this process, between barriers. The program's exit status: 2, there is no job; 1, somebody said
/// that something is wrong; 0.
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
