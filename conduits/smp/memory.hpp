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
/// Kinds: *memfd* leaves no file behind whatever happens, and is opened by others through /proc, or as pidfd_getfd(2)
/// allows; *posix* is a file in AQUEDUCT_SMP_DIRECTORY (/dev/shm), for systems that hide /proc/PID/fd from one another; it
/// is removed when its maker closes it, or by aqrun.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Makes `bytes` bytes of zeroes. `name` is for people and, with posix, part of the file's name.
  /// Without /proc it is posix, whatever the settings say: `falls_back`.
  /// Errors: no_memory, no_space, network_failed; logged with what to try.
  static Result<SharedMemory> create(const core::Process& process, const std::string& name,
                                     std::size_t bytes);
  /// Maps what another process made. Errors: peer_lost (it is gone), not_supported (the system hides it), no_memory,
  /// network_failed; `why`, for people, says what it was and what to try. Nothing is logged.
  static Result<SharedMemory> open(std::span<const std::byte> key, std::string& why);
  /// Whether this process makes files though memfd is asked for, because others could not open what it has.
  static bool falls_back(const Config& config) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// At least 3; -1 once it was dropped.
  int descriptor() const noexcept { return fd_; }
  /// What `open` needs. Requires: the descriptor was not dropped.
  std::vector<std::byte> key() const;
  /// Gives the descriptor back; the mapping stays. For memory that others made, and files, which others find by their name.
  void drop_descriptor() noexcept;
  /// Whether others find it by a name.
  bool has_name() const noexcept { return !path_.empty(); }

 private:
  void close() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int fd_ = -1;
  std::string path_;  ///< posix, on the side that made it: to be removed
};

/// A number that differs between two processes of this host, even of different pid namespaces.
std::uint64_t process_mark() noexcept;

}  // namespace aqueduct::conduits::smp
