// A system that refuses one call, as containers and sandboxes do. A job works without the call, or ends with an error
// that the log explains. It neither hangs nor crashes.

#include <aqueduct/aqueduct.hpp>

#include "tests/fault/by_turns.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

struct Call {
  const char* name;
  unsigned number;
  int argument = -1;  ///< refuse only if this argument has these bits; -1: always
  std::uint32_t bits = 0;
  std::uint32_t value = 0;  ///< of those bits
};

/// The system calls that the library makes itself. If the C library needs a call
/// too, only the library's own form is refused.
const std::vector<Call>& calls() {
  static const std::vector<Call> all{
      {"memfd_create", SYS_memfd_create},
      {"ftruncate", SYS_ftruncate},
      {"fallocate", SYS_fallocate},
      {"mmap_shared", SYS_mmap, 3, MAP_SHARED, MAP_SHARED},
      {"mmap_reserved", SYS_mmap, 3, MAP_NORESERVE, MAP_NORESERVE},
      {"mprotect", SYS_mprotect},
      {"munmap", SYS_munmap},
      {"madvise", SYS_madvise},
      {"membarrier", SYS_membarrier},
      {"fcntl_locks", SYS_fcntl, 1, ~0u, F_SETLK},
      {"fcntl_moved", SYS_fcntl, 1, ~0u, F_DUPFD_CLOEXEC},
      {"futex_shared", SYS_futex, 1, FUTEX_PRIVATE_FLAG, 0},
      {"getrandom", SYS_getrandom},
      {"openat", SYS_openat},
      {"unlink", SYS_unlink},
      {"flock", SYS_flock},
      {"getdents64", SYS_getdents64},
      {"fstatfs", SYS_fstatfs},
      {"kill", SYS_kill},
      {"pidfd_open", SYS_pidfd_open},
      {"pidfd_getfd", SYS_pidfd_getfd},
      {"rt_sigprocmask", SYS_rt_sigprocmask},
      {"thread_name", SYS_prctl, 0, ~0u, PR_SET_NAME},
      {"socket", SYS_socket},
      {"bind", SYS_bind},
      {"getsockname", SYS_getsockname},
      {"setsockopt", SYS_setsockopt},
      {"getsockopt", SYS_getsockopt},
      {"sendto", SYS_sendto},
      {"sendmsg", SYS_sendmsg},
      {"sendmmsg", SYS_sendmmsg},
      {"recvfrom", SYS_recvfrom},
      {"recvmsg", SYS_recvmsg},
      {"recvmmsg", SYS_recvmmsg},
      {"ppoll", SYS_ppoll},
      {"poll", SYS_poll},
      {"clock_nanosleep", SYS_clock_nanosleep},
      {"sched_yield", SYS_sched_yield},
      {"sched_getaffinity", SYS_sched_getaffinity},
      {"prlimit64", SYS_prlimit64},
      {"newfstatat", SYS_newfstatat},
      {"ioctl", SYS_ioctl},
      {"uname", SYS_uname},
      {"access", SYS_access},
      {"readlink", SYS_readlink},
      {"clone3", SYS_clone3},
      {"process_vm_readv", SYS_process_vm_readv},
      {"process_vm_writev", SYS_process_vm_writev},
  };
  return all;
}

bool deny(const Call& call, int problem) {
  const auto low_half = [](int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
  };
  std::vector<sock_filter> rules{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const auto refuse = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | problem);
  if (call.argument < 0) {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 1));
  } else {
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 4));
    rules.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_half(call.argument)));
    rules.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, call.bits));
    rules.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.value, 0, 1));
  }
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, refuse));
  rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct Variant {
  const char* name;
  const char* conduit;
  int problem;
  const char* smp_memory = "memfd";
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class DeniedCalls : public testing::TestWithParam<Variant> {};

TEST_P(DeniedCalls, AreDoneWithoutOrExplained) {
  const Variant& variant = GetParam();
  const bool is_smp = std::string_view(variant.conduit) == "smp";
  for (const Call& call : calls()) {
    // On other conduits only the C library makes these calls (in pthread_join),
    // and ends the program if they are refused.
    if (!is_smp && std::string_view(call.name) == "futex_shared") continue;
    std::array<int, 2> text{};
    ASSERT_EQ(::pipe2(text.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const support::ScratchFolder folder;  // where a child may not remove its files
    const int result = support::in_a_child([&] {
      Config config = config_over(variant.conduit);
      static_cast<void>(config.set("smp_memory", variant.smp_memory));
      static_cast<void>(config.set("smp_directory", folder.path()));
      static_cast<void>(config.set("udp_timeout", "1s"));
      ::dup2(text[1], 2);
      if (!deny(call, variant.problem)) return 99;
      return live(config).exit_code();
    });
    ::close(text[1]);
    std::string said(4000, '\0');
    const auto bytes = ::read(text[0], said.data(), said.size());
    said.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    ::close(text[0]);
    if (result == 99) GTEST_SKIP() << "this system has no seccomp filters";
    EXPECT_LT(result, 128) << call.name << ": killed by signal " << result - 128 << '\n' << said;
    EXPECT_NE(result, Status(ErrorCode::internal).exit_code()) << call.name << '\n' << said;
    if (result != 0) {
      EXPECT_NE(said.find("aqueduct: "), std::string::npos)
          << call.name << " ended with " << result << ", unexplained";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, DeniedCalls,
                         testing::Values(Variant{"smp_EPERM", "smp", EPERM},
                                         Variant{"smp_ENOSYS", "smp", ENOSYS},
                                         Variant{"smp_posix_EPERM", "smp", EPERM, "posix"},
                                         Variant{"smp_posix_ENOSYS", "smp", ENOSYS, "posix"},
                                         Variant{"udp_EPERM", "udp", EPERM},
                                         Variant{"udp_ENOSYS", "udp", ENOSYS}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace aqueduct::fault
