// From some moment on this rank gets no more memory, and it finishes. The first argument says whether the ranks have
// spoken before: `silent` or `spoken`. The second one says who gives none: operator `new`, or the `system`, which gives
// none to network libraries either. Prints what Job::finish returned.

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/programs/failing_new.hpp"

#include <atomic>
#include <cstdio>
#include <string_view>

#include <sys/resource.h>

namespace {

std::atomic<bool> gone{false};  ///< in all threads of the process

}  // namespace

bool new_fails(bool) noexcept { return gone; }

int main(int argc, char** argv) {
  auto job = aqueduct::Job::start();
  if (!job) return job.status().exit_code();
  if (argc > 1 && std::string_view(argv[1]) == "spoken" && !job->endpoint().barrier()) return 2;
  if (argc > 2 && std::string_view(argv[2]) == "system") {
    const rlimit less_than_used{rlim_t{20} << 20, rlim_t{20} << 20};
    if (::setrlimit(RLIMIT_AS, &less_than_used) != 0) return 3;
  } else {
    gone = true;
  }
  const aqueduct::Status status = job->finish();
  gone = false;
  std::printf("finish: %s\n", status.text().c_str());
  std::fflush(stdout);
  return status.ok() ? 0 : 70;
}
