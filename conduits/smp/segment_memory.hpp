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

/// The memory of this process's segments. Small segments are ranges of a few shared objects (*pools*), so the numbers
/// of descriptors and mappings do not grow with the number of segments. A large segment has an object of its own; so
/// has every segment if shared memory is made of files.
///
/// Threads: any.
class SegmentMemory {
 public:
  explicit SegmentMemory(const core::Process& process);

  /// Returns zeroed memory for a segment. `key` receives the key of its object and the offset in the object. `name` is
  /// unique and appears in messages. Errors: as SharedMemory::create.
  Result<std::span<std::byte>> take(const std::string& name, std::size_t bytes, std::vector<std::byte>& key);
  /// Frees memory that `take` returned.
  void give(std::span<std::byte> memory) noexcept;

  /// Chosen: a segment of more bytes has an object of its own. Programs make few of these.
  static constexpr std::size_t kMostInPool = std::size_t{8} << 20;

 private:
  struct Object {
    SharedMemory memory;
    std::optional<FreeRanges> free;  ///< of a pool; nothing if the object is a single segment

    bool holds(const std::byte* place) const noexcept {
      return place >= memory.data() && place < memory.data() + memory.bytes();
    }
  };

  std::span<std::byte> take_range(Object& object, std::size_t bytes, std::vector<std::byte>& key);
  Object* add_pool(std::size_t bytes);

  const core::Process& process_;
  const bool pools_;  ///< several segments may share an object
  std::mutex mutex_;
  std::list<Object> objects_;
  std::uint32_t pools_made_ = 0;
};

/// Removes the offset from the end of a segment's key, which leaves the object's key, and returns the offset.
std::size_t offset_in_object(std::span<const std::byte>& key) noexcept;

}  // namespace aqueduct::conduits::smp
