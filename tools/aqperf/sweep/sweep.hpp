#pragma once

#include "tools/aqperf/options.hpp"

namespace aqueduct::perf {

/// Measures the variants of a sweep in turns, each as a job of its own, and prints them side by side. Throws Failure if a job fails.
void sweep(const Options& options, int argc, char** argv);

}  // namespace aqueduct::perf
