#pragma once

#include "core/conduit.hpp"

#include <map>
#include <mutex>
#include <vector>

#include <sys/mman.h>

namespace aqueduct::conduits::loop {

/// The segments that a rank has registered, and the memory that loop has allocated for them.
///
/// Threads: any. A segment's memory is used under the mutex, so that it is not unregistered meanwhile.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;
  ~RegisteredMemory() {
    for (const core::MutableBytes memory : allocated_) ::munmap(memory.data(), memory.size());
  }

  void add(SegmentId id, core::MutableBytes memory) {
    const std::lock_guard lock(mutex_);
    registered_[id] = memory;
  }
  void remove(SegmentId id) noexcept {
    const std::lock_guard lock(mutex_);
    registered_.erase(id);
  }
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    registered_.clear();
  }

  /// Calls `use` with a range of a segment, under the mutex. Errors: peer_lost (not, or no longer, registered),
  /// out_of_range.
  template <class Use>
  ErrorCode with(SegmentId id, std::uint64_t offset, std::size_t bytes, Use use) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = registered_.find(id);
    if (found == registered_.end()) return ErrorCode::peer_lost;
    const core::MutableBytes memory = found->second;
    if (offset > memory.size() || bytes > memory.size() - offset) return ErrorCode::out_of_range;
    use(memory.subspan(offset, bytes));
    return ErrorCode::ok;
  }

  /// Allocates zeroed pages. They stay until `release`, or until the network ends: neighbours may access them after
  /// their owner has ended. Errors: no_memory.
  Result<core::MutableBytes> allocate(std::size_t bytes) {
    const std::size_t size = bytes == 0 ? 1 : bytes;
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return ErrorCode::no_memory;
    const std::lock_guard lock(mutex_);
    allocated_.push_back({static_cast<std::byte*>(memory), size});
    return core::MutableBytes{static_cast<std::byte*>(memory), bytes};
  }
  void release(core::MutableBytes memory) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(allocated_, [&](const core::MutableBytes& one) {
      if (one.data() != memory.data()) return false;
      ::munmap(one.data(), one.size());
      return true;
    });
  }

 private:
  std::mutex mutex_;
  std::map<SegmentId, core::MutableBytes> registered_;
  std::vector<core::MutableBytes> allocated_;
};

}  // namespace aqueduct::conduits::loop
