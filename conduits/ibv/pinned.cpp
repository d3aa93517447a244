#include "conduits/ibv/pinned.hpp"

#include <algorithm>
#include <cstdint>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv {
namespace {

/// Whether this process may exceed the limit, as root may.
bool may_pass_the_limit() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct granted[2]{};
  return ::syscall(SYS_capget, &header, granted) == 0 && (granted[0].effective & (1u << CAP_IPC_LOCK)) != 0;
}

}  // namespace

Pinnable pinnable_here() noexcept {
  Pinnable here{SIZE_MAX, SIZE_MAX};
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  if (pages > 0) here.memory = static_cast<std::size_t>(pages) * static_cast<std::size_t>(::getpagesize());
  rlimit limit{};
  if (!may_pass_the_limit() && ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    here.per_process = limit.rlim_cur;
  }
  return here;
}

std::size_t pinned_share(const Pinnable& host, std::size_t budget, const Sharers& sharers) noexcept {
  if (budget != 0) return std::max(budget / sharers.on_host, kLeastShare);
  const std::size_t of_memory = host.memory / 4 / sharers.on_host;
  const std::size_t of_limit = host.per_process / 2 / sharers.in_process;
  return std::max(std::min(of_memory, of_limit), kLeastShare);
}

}  // namespace aqueduct::conduits::ibv
