#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace aqueduct::topology {

/// The caches of a host's first processor, in bytes; 0: not known. Of processors of several kinds the others may have more or
/// less, but all ranks of the host see the same ones.
struct Caches {
  std::uint64_t first = 0;    ///< of data
  std::uint64_t second = 0;   ///< of data, or of all
  std::uint64_t last = 0;     ///< the largest level; the second one if there is no other
  std::uint32_t sharing = 0;  ///< processors that share a last cache

  friend bool operator==(const Caches&, const Caches&) = default;
};

/// What the system says: a folder with `index0`, `index1`, …, each with the files `level`, `type`, `size` and
/// `shared_cpu_list` (Linux). Where there are no such files, nothing is known.
Caches read_system_caches(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

/// One word for other processes, which is not 0: sizes in KiB. What is too large for it becomes the most that it takes.
std::uint64_t word_of(const Caches& caches) noexcept;
Caches caches_of(std::uint64_t word) noexcept;

/// What all ranks of a host take for its caches: what the first of them has read that has come to write it to the word.
///
/// `word`: 8 bytes, aligned, which begin with zeroes and are the same for all ranks of the host; null: this rank decides
/// alone.
///
/// Threads: any number, in any processes.
Caches agreed_caches(std::byte* word, const std::function<Caches()>& read);

}  // namespace aqueduct::topology
