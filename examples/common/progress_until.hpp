#pragma once

#include <aqueduct/endpoint.hpp>

#include "common/check.hpp"
#include "common/stopwatch.hpp"

#include <string>
#include <thread>

namespace example {

/// Makes progress until `condition` holds, which a handler makes true.
///
/// Handlers run on this thread, inside progress(), so data that they share with `condition` needs no lock. Fails when
/// a rank is lost or nothing has arrived for a minute.
template <class Condition>
void progress_until(aqueduct::Endpoint& ep, Condition condition, const char* what) {
  Stopwatch idle;
  while (!condition()) {
    if (ep.progress() > 0) {
      idle = Stopwatch{};
      continue;
    }
    std::this_thread::yield();  // the rank that is waited for may need this core
    if (idle.seconds() > 60) fail(std::string("waited a minute for ") + what);
    for (aqueduct::Rank rank = 0; rank < ep.ranks(); ++rank) {
      if (ep.is_lost(rank)) fail("rank " + std::to_string(rank) + " is lost while waiting for " + what);
    }
  }
}

}  // namespace example
