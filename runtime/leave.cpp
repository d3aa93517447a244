#include <aqueduct/job.hpp>

#include "runtime/job_impl.hpp"

#include <cstdlib>

#include <unistd.h>

namespace aqueduct {

void Job::leave(int code) noexcept {
  // The output of a forked child stays its own: a flush would print what its parent had printed before the fork again.
  if (::getpid() != impl_->process_id) std::_Exit(code);
  impl_->leaving.end(code, impl_->has_left ? nullptr : impl_->bootstrap.get());
}

void Job::request_leave(int code) noexcept {
  if (::getpid() != impl_->process_id) return;
  if (impl_->leaving.request(code)) impl_->bootstrap->exit_from_signal(code);
}

}  // namespace aqueduct
