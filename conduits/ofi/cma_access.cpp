#include "conduits/ofi/cma_access.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace aqueduct::conduits::ofi {
namespace {

bool has_capability(unsigned which) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[CAP_TO_INDEX(which)].effective & CAP_TO_MASK(which)) != 0;
}

}  // namespace

CmaAccess probe_cma() noexcept {
  CmaAccess found;
  char from = 1;
  char to = 0;
  const iovec here{&to, 1};
  const iovec there{&from, 1};
  if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != 1) found.error = errno;
  std::ifstream yama("/proc/sys/kernel/yama/ptrace_scope");
  if (!(yama >> found.ptrace_scope)) found.ptrace_scope = 0;  // a kernel without it
  found.may_trace = has_capability(CAP_SYS_PTRACE);
  return found;
}

std::string why_no_cma(const CmaAccess& found) {
  if (found.error != 0) {
    return fmt::format(
        "the system refuses process_vm_readv ({}): containers allow it with CAP_SYS_PTRACE or "
        "seccomp=unconfined",
        std::strerror(found.error));
  }
  const int most = found.may_trace ? 2 : 0;
  if (found.ptrace_scope <= most) return {};
  return fmt::format(
      "kernel.yama.ptrace_scope is {}, which keeps processes from it: `sysctl -w "
      "kernel.yama.ptrace_scope=0`, or give the job CAP_SYS_PTRACE",
      found.ptrace_scope);
}

}  // namespace aqueduct::conduits::ofi
