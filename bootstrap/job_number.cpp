#include "bootstrap/job_number.hpp"

#include <chrono>

#include <sys/random.h>
#include <unistd.h>

namespace aqueduct::bootstrap {

std::uint64_t new_job_number() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    // getrandom fails only while the kernel starts or under a strict seccomp
    // filter. Process id and time are unique enough.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    number = (static_cast<std::uint64_t>(::getpid()) << 40) ^ static_cast<std::uint64_t>(now);
  }
  return number == 0 ? 1 : number;
}

}  // namespace aqueduct::bootstrap
