#include "conduits/smp/memory.hpp"

#include "conduits/smp/node_memory.hpp"
#include "core/descriptors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

/// Tells another process how to open the memory.
struct MemoryKey {
  std::uint64_t bytes;
  std::uint64_t inode;  ///< detects a reused pid or name, which leads to another object
  std::int32_t pid;
  std::int32_t fd;
  char path[96];  ///< posix; empty for memfd
};
static_assert(sizeof(MemoryKey) == SharedMemory::kKeyBytes);

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Memory of at least this size gets a place that `map` chooses. Chosen: smaller ones lie at such distances only if there are
// more than sixteen.
constexpr std::size_t kLarge = std::size_t{16} << 20;

/// The memory that the machine has available, in bytes; UINT64_MAX if it cannot be found out.
std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  std::uint64_t kib = 0;
  while (info >> word) {
    if (word == "MemAvailable:" && info >> kib) return kib * 1024;
  }
  return UINT64_MAX;
}

std::uint64_t inode_of(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

int make_memfd(const std::string& name, std::size_t bytes, bool hugetlb) noexcept {
  const unsigned flags = MFD_CLOEXEC | (hugetlb ? MFD_HUGETLB : 0u);
  const int fd = core::above_standard(::memfd_create(name.c_str(), flags));
  if (fd < 0) return -1;
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const int why = errno;
    ::close(fd);
    errno = why;
    return -1;
  }
  return fd;
}

/// Reserves the pages of a file; returns an error number. On older kernels (Linux 6.1) a signal ends the call, and
/// undoes what it has reserved. A program with a fast timer would never get a large file at once, so the pieces
/// become smaller after each signal.
int reserve(int fd, std::size_t bytes) noexcept {
  constexpr std::size_t kLeast = 64 * 1024;  // chosen
  std::size_t piece = bytes;
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t part = std::min(piece, bytes - at);
    const int why = ::posix_fallocate(fd, static_cast<off_t>(at), static_cast<off_t>(part));
    if (why == 0) {
      at += part;
    } else if (why == EINTR) {
      piece = std::max(piece / 2, kLeast);
    } else {
      return why;
    }
  }
  return 0;
}

int make_file(const core::Process& process, const std::string& path, std::size_t bytes,
              const char* advice) noexcept {
  const int fd = core::above_standard(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd < 0) {
    const int why = errno;
    process.log->error("cannot make {}: {}; is AQUEDUCT_SMP_DIRECTORY a writable tmpfs?", path,
                       core::no_descriptor(why));
    errno = why;
    return -1;
  }
  // Reserves the pages now, so that a full file system is an error here and not a SIGBUS at the first access.
  if (const int why = reserve(fd, bytes); why != 0) {
    struct statvfs room {};
    ::fstatvfs(fd, &room);
    process.log->error(
        "{}: {} bytes do not fit, {} are free there: {}; {}, that file system larger (mount -o "
        "remount,size=…), or use AQUEDUCT_SMP_MEMORY=memfd",
        path, bytes, static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize, std::strerror(why), advice);
    ::close(fd);
    ::unlink(path.c_str());
    errno = why;
    return -1;
  }
  return fd;
}

/// The largest file that this process may create (`ulimit -f`), in bytes. Beyond it the system does not return an
/// error: it sends SIGXFSZ, which kills the process.
std::uint64_t largest_file() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : UINT64_MAX;
}

/// Duplicates a descriptor of another process, without /proc. Negative where the system does not allow it.
int taken_from(pid_t pid, int descriptor) noexcept {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return -1;
  const auto taken = static_cast<int>(::syscall(SYS_pidfd_getfd, process, descriptor, 0));
  ::close(process);
  return core::above_standard(taken);
#else
  static_cast<void>(pid);
  static_cast<void>(descriptor);
  return -1;
#endif
}

/// Opens what a key names. Errors: as SharedMemory::open.
Result<int> open_object(const MemoryKey& key, std::string& why) {
  const bool has_name = key.path[0] != 0;
  const std::string path = has_name ? key.path : fmt::format("/proc/{}/fd/{}", key.pid, key.fd);
  int fd = core::above_standard(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd >= 0) return fd;
  const int problem = errno;
  if (problem == EMFILE || problem == ENFILE) {
    why = fmt::format("no descriptor to open {} with: {}", path, core::no_descriptor(problem));
    return ErrorCode::network_failed;
  }
  if (problem == ENOENT || problem == ESRCH) {
    if (::kill(key.pid, 0) != 0 && errno == ESRCH) return ErrorCode::peer_lost;
    // The process is alive. If its file is missing, or its descriptor while /proc shows the process, it has closed
    // them.
    if (has_name || ::access(fmt::format("/proc/{}", key.pid).c_str(), F_OK) == 0)
      return ErrorCode::peer_lost;
  } else if (problem != EACCES && problem != EPERM) {
    why = fmt::format("cannot open {}: {}", path, std::strerror(problem));
    return ErrorCode::network_failed;
  }
  if (!has_name && (fd = taken_from(key.pid, key.fd)) >= 0) return fd;
  why = fmt::format("this system does not let a process open {} ({}); AQUEDUCT_SMP_MEMORY=posix avoids that",
                    path, std::strerror(problem));
  return ErrorCode::not_supported;
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  close();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  reserved_ = std::exchange(other.reserved_, {});
  fd_ = std::exchange(other.fd_, -1);
  path_ = std::exchange(other.path_, {});
  return *this;
}

SharedMemory::~SharedMemory() { close(); }

void SharedMemory::close() noexcept {
  if (!reserved_.empty()) {
    ::munmap(reserved_.data(), reserved_.size());
  } else if (data_ != nullptr) {
    ::munmap(data_, bytes_);
  }
  drop_descriptor();
  if (!path_.empty()) ::unlink(path_.c_str());
  data_ = nullptr;
  reserved_ = {};
}

// The system puts one mapping directly below another. With parts of 256 MiB, or of half that and every second rank, the same
// offsets of two parts then have addresses that differ in nothing by which the first cache looks up lines quickly, and a copy
// from one to the other takes 3.5 times as long (measured on Zen 4, docs/decisions/0108-tables-at-the-end-of-pages.md). So
// each large mapping lies 2 MiB further from the one above it. It begins at a border of huge pages too.
bool SharedMemory::map() noexcept {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  if (bytes_ >= kLarge) {
    const std::size_t taken = (bytes_ + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
    void* const all = ::mmap(nullptr, taken, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all != MAP_FAILED) {
      const auto start = reinterpret_cast<std::uintptr_t>(all);
      auto* const place = static_cast<std::byte*>(all) + (kHugePage - start % kHugePage) % kHugePage;
      if (::mmap(place, bytes_, kAccess, MAP_SHARED | MAP_FIXED, fd_, 0) != MAP_FAILED) {
        data_ = place;
        reserved_ = {static_cast<std::byte*>(all), taken};
        return true;
      }
      ::munmap(all, taken);
    }
  }
  void* const at = ::mmap(nullptr, bytes_, kAccess, MAP_SHARED, fd_, 0);
  if (at == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(at);
  return true;
}

void SharedMemory::drop_descriptor() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool SharedMemory::falls_back(const Config& config) noexcept {
  return config.text("smp_memory") == "memfd" && ::access("/proc/self/fd", F_OK) != 0;
}

/// Errors: no_memory or no_space, if the system cannot give `bytes_`.
Status SharedMemory::check_size(const core::Process& process, const std::string& name,
                                const char* advice) const {
  if (const auto most = available_memory(); bytes_ > most) {
    process.log->error("{}: {} bytes are more than the {} that this machine has free; {}", name, bytes_, most,
                       advice);
    return ErrorCode::no_memory;
  }
  if (const auto most = largest_file(); bytes_ > most) {
    process.log->error(
        "{}: {} bytes are more than a file of this process may have, {}; raise that limit (ulimit -f "
        "unlimited) or {}",
        name, bytes_, most, advice);
    return ErrorCode::no_space;
  }
  return {};
}

/// Makes a file of `bytes_`. Errors: as `create`.
Status SharedMemory::make_named(const core::Process& process, const std::string& name, const char* advice) {
  path_ = process.config->text("smp_directory") + "/aqueduct-" + std::to_string(process.job) + "-" + name;
  if (path_.size() >= sizeof(MemoryKey::path)) {
    process.log->error(
        "AQUEDUCT_SMP_DIRECTORY makes names of {} characters, {} are the most: choose a shorter one",
        path_.size(), sizeof(MemoryKey::path) - 1);
    path_.clear();
    return ErrorCode::bad_setting;
  }
  fd_ = make_file(process, path_, bytes_, advice);
  if (fd_ < 0) {
    path_.clear();
    return errno == ENOSPC || errno == EFBIG ? ErrorCode::no_space : ErrorCode::network_failed;
  }
  return {};
}

/// Makes a memfd of `bytes_`, or of huge pages and a multiple of their size if it can. Errors: as `create`.
Status SharedMemory::make_unnamed(const core::Process& process, const std::string& name, bool wants_huge,
                                  bool& is_huge) {
  const std::size_t bytes = bytes_;
  if (wants_huge) {
    const std::size_t rounded = (bytes + kHugePage - 1) & ~(kHugePage - 1);
    if (rounded <= largest_file()) fd_ = make_memfd(name, rounded, true);
    if (fd_ >= 0) {
      bytes_ = rounded;
      is_huge = true;
    } else {
      process.log->warn("{}: no huge pages ({}); reserve some with vm.nr_hugepages. Ordinary pages serve",
                        name, std::strerror(errno));
    }
  }
  if (fd_ < 0) fd_ = make_memfd(name, bytes, false);
  if (fd_ < 0) {
    const int why = errno;
    process.log->error("{}: the system gives no shared memory of {} bytes: {}", name, bytes,
                       core::no_descriptor(why));
    return why == EMFILE || why == ENFILE ? ErrorCode::network_failed : ErrorCode::no_memory;
  }
  return {};
}

Result<SharedMemory> SharedMemory::create(const core::Process& process, const std::string& name,
                                          std::size_t bytes, const char* advice) {
  SharedMemory memory;
  memory.bytes_ = bytes;
  if (const Status status = memory.check_size(process, name, advice); !status) return status;
  const std::string huge = process.config->text("smp_huge_pages");
  bool is_huge = false;  // a file of huge pages
  const bool has_file = process.config->text("smp_memory") == "posix" || falls_back(*process.config);
  const Status made = has_file ? memory.make_named(process, name, advice)
                               : memory.make_unnamed(process, name, huge == "hugetlb", is_huge);
  if (!made) return made;
  bool is_mapped = memory.map();
  if (!is_mapped && is_huge) {  // fewer huge pages are free than are needed
    process.log->warn("{}: too few huge pages are free; ordinary ones serve", name);
    ::close(memory.fd_);
    memory.bytes_ = bytes;
    memory.fd_ = make_memfd(name, bytes, false);
    is_mapped = memory.fd_ >= 0 && memory.map();
  }
  if (!is_mapped) {
    process.log->error("{}: cannot map {} bytes: {}", name, bytes, std::strerror(errno));
    return ErrorCode::no_memory;
  }
  // Before anybody touches it. A file's pages are there already, and this process has reserved them.
  if (const auto node = place_on_own_node(memory.data_, memory.bytes_))
    process.log->debug("smp: {}, {} bytes, is asked for on NUMA node {}", name, memory.bytes_, *node);
  // A hint: the system may give ordinary pages nevertheless.
  if (huge != "off" && bytes >= kHugePage) ::madvise(memory.data_, memory.bytes_, MADV_HUGEPAGE);
  return memory;
}

std::size_t SharedMemory::most() noexcept { return largest_file(); }

std::uint64_t SharedMemory::room(const Config& config) noexcept {
  if (config.text("smp_memory") != "posix" && !falls_back(config)) return UINT64_MAX;
  struct statvfs found {};
  if (::statvfs(config.text("smp_directory").c_str(), &found) != 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
}

std::uint64_t SharedMemory::available() { return available_memory(); }

std::vector<std::byte> SharedMemory::key() const {
  MemoryKey key{};
  key.bytes = bytes_;
  key.inode = inode_of(fd_);
  key.pid = ::getpid();
  key.fd = fd_;
  std::strncpy(key.path, path_.c_str(), sizeof key.path - 1);
  const auto* bytes = reinterpret_cast<const std::byte*>(&key);
  return {bytes, bytes + sizeof key};
}

Result<SharedMemory> SharedMemory::open(std::span<const std::byte> key, std::string& why) {
  MemoryKey place;
  if (key.size() != sizeof place) return ErrorCode::internal;
  std::memcpy(&place, key.data(), sizeof place);
  place.path[sizeof place.path - 1] = 0;
  const auto opened = open_object(place, why);
  if (!opened) return opened.status();
  SharedMemory memory;
  memory.fd_ = *opened;
  if (inode_of(memory.fd_) != place.inode) return ErrorCode::peer_lost;
  memory.bytes_ = place.bytes;
  if (!memory.map()) {
    why = fmt::format("cannot map {} bytes: {}", place.bytes, std::strerror(errno));
    return ErrorCode::no_memory;
  }
  return memory;
}

std::uint64_t process_mark() noexcept {
  std::uint64_t mark = 0;
  if (::getrandom(&mark, sizeof mark, 0) != sizeof mark) mark = static_cast<std::uint64_t>(::getpid());
  return mark;
}

}  // namespace aqueduct::conduits::smp
