#include "conduits/smp/segment_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

// Chosen: each pool is twice as large as the one before it, within these limits. Its pages take memory once used.
constexpr std::size_t kFirstPool = std::size_t{1} << 20;
constexpr std::size_t kLargestPool = std::size_t{64} << 20;
// Ranges are whole pages, because only whole pages can be given back to the system.
std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

void append_offset(std::vector<std::byte>& key, std::uint64_t offset) {
  const auto* at = reinterpret_cast<const std::byte*>(&offset);
  key.insert(key.end(), at, at + sizeof offset);
}

/// Gives pages back to the system; they read as zeroes then.
///
/// It uses madvise, not a call with the descriptor: the registration caches of network libraries watch madvise.
/// Otherwise they would use the old pages for the next segment at these addresses.
bool give_pages_back(std::span<std::byte> memory) noexcept {
  const std::size_t whole = (memory.size() + page_bytes() - 1) / page_bytes() * page_bytes();
  return ::madvise(memory.data(), whole, MADV_REMOVE) == 0;
}

}  // namespace

SegmentMemory::SegmentMemory(const core::Process& process)
    : process_(process),
      // Pools help neither files, which keep no descriptor open and take all their pages at once, nor huge pages, which
      // cannot be divided.
      pools_(process.config->text("smp_memory") == "memfd" && !SharedMemory::falls_back(*process.config) &&
             process.config->text("smp_huge_pages") != "hugetlb") {}

std::span<std::byte> SegmentMemory::take_range(Object& object, std::size_t bytes,
                                               std::vector<std::byte>& key) {
  auto place = object.memory.key();
  place.reserve(place.size() + sizeof(std::uint64_t));
  const auto offset = object.free->take(bytes);
  if (!offset) return {};
  append_offset(place, *offset);
  key = std::move(place);
  return {object.memory.data() + *offset, bytes};
}

/// Makes a pool with room for a segment of `bytes`. Null: the machine has no room for one.
SegmentMemory::Object* SegmentMemory::add_pool(std::size_t bytes) {
  std::size_t size = std::clamp(kFirstPool << std::min(pools_made_, 10u), kFirstPool, kLargestPool);
  while (size < 4 * bytes && size < kLargestPool) size *= 2;
  // If the machine has no room for a pool, that is not an error: the segment alone may fit.
  if (size > SharedMemory::most() || size > SharedMemory::available()) return nullptr;
  auto memory = SharedMemory::create(process_, "segments-" + std::to_string(pools_made_), size);
  if (!memory) return nullptr;
  ++pools_made_;
  objects_.push_back({std::move(*memory), FreeRanges(size, page_bytes())});
  return &objects_.back();
}

Result<std::span<std::byte>> SegmentMemory::take(const std::string& name, std::size_t bytes,
                                                 std::vector<std::byte>& key) {
  if (pools_ && bytes <= kMostInPool) {
    const std::lock_guard lock(mutex_);
    for (Object& object : objects_) {
      if (!object.free) continue;
      if (const auto memory = take_range(object, bytes, key); !memory.empty()) return memory;
    }
    if (Object* const pool = add_pool(bytes)) return take_range(*pool, bytes, key);
  }
  auto memory = SharedMemory::create(process_, name, bytes);
  if (!memory) return memory.status();
  key = memory->key();
  append_offset(key, 0);
  if (memory->has_name()) memory->drop_descriptor();
  const std::lock_guard lock(mutex_);
  objects_.push_back({std::move(*memory), std::nullopt});
  return std::span<std::byte>(objects_.back().memory.data(), bytes);
}

void SegmentMemory::give(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return;
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(objects_, [&](const Object& one) { return one.holds(memory.data()); });
  if (at == objects_.end()) return;
  if (at->free) {
    const auto offset = static_cast<std::size_t>(memory.data() - at->memory.data());
    // Pages that the system does not take back still hold the old bytes, so no other segment may get them.
    if (!give_pages_back(memory)) return;
    try {
      at->free->give(offset, memory.size());
    } catch (const std::bad_alloc&) {
      return;
    }
    if (!at->free->all_free()) return;
  }
  objects_.erase(at);
}

std::size_t offset_in_object(std::span<const std::byte>& key) noexcept {
  std::uint64_t offset = 0;
  if (key.size() != SharedMemory::kKeyBytes + sizeof offset) return 0;
  std::memcpy(&offset, key.data() + SharedMemory::kKeyBytes, sizeof offset);
  key = key.first(SharedMemory::kKeyBytes);
  return offset;
}

}  // namespace aqueduct::conduits::smp
