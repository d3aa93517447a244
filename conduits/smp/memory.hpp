#pragma once

#include "core/network.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::conduits::smp {

/// Memory that other processes of this host can map, and its mapping here.
///
/// Kinds: *memfd* never leaves a file behind. Other processes open it through /proc, or by pidfd_getfd(2) where the
///        system allows it. *posix* is a file in AQUEDUCT_SMP_DIRECTORY (/dev/shm), for systems that hide
///        /proc/PID/fd from other processes. The file is removed when the process that made it closes it, or by
///        aqrun.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Allocates `bytes` zeroed bytes. `name` is shown in messages and, with posix, a part of the file's name. Without /proc,
  /// the kind is posix whatever the settings say (`falls_back`).
  /// Errors: no_memory, no_space, network_failed, bad_setting; logged with what to try: `advice` is about the size.
  static Result<SharedMemory> create(const core::Process& process, const std::string& name, std::size_t bytes,
                                     const char* advice = "make segments smaller (AQUEDUCT_SEGMENT_BYTES)");
  /// Maps memory that another process has made. Logs nothing.
  /// Errors: peer_lost (the process or the memory is gone), not_supported (the system hides it), no_memory,
  ///         network_failed. `why` receives the reason and what to try, in words.
  static Result<SharedMemory> open(std::span<const std::byte> key, std::string& why);
  /// The most bytes that one such object may have here (`ulimit -f`).
  static std::size_t most() noexcept;
  /// The free bytes of the file system in which such objects are made; UINT64_MAX if they are not files.
  static std::uint64_t room(const Config& config) noexcept;
  /// The memory that the machine has available, in bytes; UINT64_MAX if it cannot be found out.
  static std::uint64_t available();
  /// The length of a key.
  static constexpr std::size_t kKeyBytes = 120;
  /// Whether this process makes files although the setting is memfd: without /proc, other processes could not open a
  /// memfd.
  static bool falls_back(const Config& config) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// At least 3; -1 after drop_descriptor.
  int descriptor() const noexcept { return fd_; }
  /// The key with which other processes `open` it. Requires: the descriptor was not dropped.
  std::vector<std::byte> key() const;
  /// Closes the descriptor; the mapping stays. For memory that other processes made, and for files, which have a name.
  void drop_descriptor() noexcept;
  /// Whether other processes open it by a file name.
  bool has_name() const noexcept { return !path_.empty(); }

 private:
  Status check_size(const core::Process& process, const std::string& name, const char* advice) const;
  Status make_named(const core::Process& process, const std::string& name, const char* advice);
  Status make_unnamed(const core::Process& process, const std::string& name, bool wants_huge, bool& is_huge);
  void close() noexcept;
  /// Maps `bytes_` of `fd_`. False: errno says why.
  bool map() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::span<std::byte> reserved_;  ///< the addresses around a large mapping that nothing else gets
  int fd_ = -1;
  std::string path_;  ///< posix, in the process that made it: the file to remove
};

/// A number that differs between two processes of this host, even of different pid namespaces.
std::uint64_t process_mark() noexcept;

}  // namespace aqueduct::conduits::smp
