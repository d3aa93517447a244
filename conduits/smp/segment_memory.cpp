#include "conduits/smp/segment_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

// Chosen: a pool is twice as large as the one before it, between these. Its pages become memory when they are used.
constexpr std::size_t kFirstPool = std::size_t{1} << 20;
constexpr std::size_t kLargestPool = std::size_t{64} << 20;
// Ranges are whole pages, which go back to the system one by one.
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
/// By the address and not by the descriptor: registration caches of network libraries watch calls of madvise, and would
/// otherwise keep the old pages for the next segment here.
bool give_pages_back(std::span<std::byte> memory) noexcept {
  const std::size_t whole = (memory.size() + page_bytes() - 1) / page_bytes() * page_bytes();
  return ::madvise(memory.data(), whole, MADV_REMOVE) == 0;
}

}  // namespace

SegmentMemory::SegmentMemory(const core::Process& process)
    : process_(process),
      // Files have no descriptors to save, and take their pages at once; large pages are not divided.
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

/// Null: the system gives none, or none with room for such segments.
SegmentMemory::Object* SegmentMemory::add_pool(std::size_t bytes) {
  std::size_t size = std::clamp(kFirstPool << std::min(pools_made_, 10u), kFirstPool, kLargestPool);
  while (size < 4 * bytes && size < kLargestPool) size *= 2;
  // A pool that the machine has no room for is no error: the segment may fit alone.
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
    // Pages that stay hold bytes, and serve nobody else.
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
