#pragma once

#include "runtime/job_impl.hpp"

namespace aqueduct::runtime {

/// Starts a thread for each endpoint that goes on with collective operations while the program computes. Without one
/// everything works, but peers wait for a rank that computes.
void start_stand_ins(Job::Impl& job);
/// Before the endpoints end: one may use what belongs to another.
void stop_stand_ins(Job::Impl& job);

}  // namespace aqueduct::runtime
