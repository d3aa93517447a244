#include "conduits/ucx/owner_process.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aqueduct::conduits::ucx {
namespace {

std::uint64_t space_of_pids() noexcept {
  struct stat about {};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

}  // namespace

OwnerProcess this_process() noexcept { return {space_of_pids(), ::getpid()}; }

bool has_lost_memory(const OwnerProcess& owner) noexcept {
  if (owner.space == 0 || owner.space != space_of_pids()) return false;
  std::array<char, 40> path{};
  std::snprintf(path.data(), path.size(), "/proc/%lld/statm", static_cast<long long>(owner.pid));
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  std::array<char, 2> size{};
  const ssize_t got = ::read(file, size.data(), size.size());
  const bool ended = got == 0 || (got < 0 && errno == ESRCH);
  ::close(file);
  // The size is 0 as soon as a process that ends has begun to give its memory back.
  return ended || (got == 2 && std::string_view(size.data(), size.size()) == "0 ");
}

}  // namespace aqueduct::conduits::ucx
