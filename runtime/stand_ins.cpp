#include "runtime/stand_ins.hpp"

#include "am/messages.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>

namespace aqueduct::runtime {

void start_stand_ins(Job::Impl& job) {
  std::chrono::nanoseconds patience(job.config.nanoseconds("coll_progress"));
  if (patience.count() <= 0 || job.process.ranks == 1) return;
  patience = std::max<std::chrono::nanoseconds>(patience, std::chrono::microseconds(20));
  for (auto& parts : job.endpoints) try {
      parts->state.stand_in =
          std::make_unique<core::StandIn>(parts->state, patience, am::Messages::is_for_program);
    } catch (const std::exception& problem) {  // no thread, or no memory for one
      job.log.warn(
          "the system gives no thread for AQUEDUCT_COLL_PROGRESS ({}): collective operations go on only in "
          "calls",
          problem.what());
    }
}

void stop_stand_ins(Job::Impl& job) {
  for (auto& parts : job.endpoints) {
    if (parts->state.stand_in != nullptr) parts->state.stand_in->stop();
  }
}

}  // namespace aqueduct::runtime
