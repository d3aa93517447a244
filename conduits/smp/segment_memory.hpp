#pragma once

#include "conduits/smp/free_ranges.hpp"
#include "conduits/smp/memory.hpp"
#include "core/network.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace aqueduct::conduits::smp {

/// The memory of this process's segments. Small segments are ranges of a few shared objects, so that neither descriptors
/// nor mappings grow with the number of segments; a large one, or one made of files, is an object of its own.
///
/// Threads: any.
class SegmentMemory {
 public:
  explicit SegmentMemory(const core::Process& process);

  /// Zeroes for a segment, and in `key` what leads to them: the key of their object, then the offset in it.
  /// `name` is shown in messages, and differs from all others. Errors: as SharedMemory::create.
  Result<std::span<std::byte>> take(const std::string& name, std::size_t bytes, std::vector<std::byte>& key);
  /// Gives back what `take` gave.
  void give(std::span<std::byte> memory) noexcept;

  /// Chosen: a segment of more bytes is an object of its own; there are few of those.
  static constexpr std::size_t kMostInPool = std::size_t{8} << 20;

 private:
  struct Object {
    SharedMemory memory;
    std::optional<FreeRanges> free;  ///< if it is of several segments

    bool holds(const std::byte* place) const noexcept {
      return place >= memory.data() && place < memory.data() + memory.bytes();
    }
  };

  std::span<std::byte> take_range(Object& object, std::size_t bytes, std::vector<std::byte>& key);
  Object* add_pool(std::size_t bytes);

  const core::Process& process_;
  const bool pools_;  ///< objects may be of several segments
  std::mutex mutex_;
  std::list<Object> objects_;
  std::uint32_t pools_made_ = 0;
};

/// Splits a key into that of an object and the offset in it.
std::size_t offset_in_object(std::span<const std::byte>& key) noexcept;

}  // namespace aqueduct::conduits::smp
