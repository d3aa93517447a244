#pragma once

#include "conduits/ibv/verbs.hpp"
#include "core/conduit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace aqueduct::conduits::ibv {

/// Page-aligned memory that the device uses, registered.
class RegisteredPages {
 public:
  RegisteredPages() = default;
  /// Nothing is registered, and errno says why, if `operator bool` is false.
  RegisteredPages(const Verbs& verbs, ibv_pd& domain, std::size_t bytes, int access)
      : memory_(static_cast<std::byte*>(::operator new(bytes, kPage, std::nothrow))) {
    errno = ENOMEM;
    if (memory_ != nullptr) region_ = {verbs.reg_mr(&domain, memory_.get(), bytes, access), {verbs.dereg_mr}};
  }

  explicit operator bool() const noexcept { return region_ != nullptr; }
  std::byte* data() const noexcept { return memory_.get(); }
  ibv_mr& region() const noexcept { return *region_; }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, kPage); }
  };

  std::unique_ptr<std::byte, Free> memory_;
  Owned<ibv_mr> region_;  // ends first
};

/// Registered buffers of two sizes, for short data outside segments. All are made at the start, so that the data path
/// does not allocate.
class BounceBuffers {
 public:
  struct Kind {
    std::uint32_t count = 0;
    std::size_t bytes = 0;
  };

  /// False, and errno, if the memory cannot be registered.
  bool open(const Verbs& verbs, ibv_pd& domain, Kind small, Kind large, int access = IBV_ACCESS_LOCAL_WRITE) {
    // A short payload at the start of a buffer crosses no page (Sizes::garbled).
    small.bytes = (small.bytes + 63) / 64 * 64;
    bytes_ = small.bytes;
    most_bytes_ = std::max(large.bytes, small.bytes);
    const std::size_t all_small = small.count * small.bytes;
    pages_ = RegisteredPages(verbs, domain, all_small + large.count * large.bytes, access);
    if (!pages_) return false;
    first_large_ = pages_.data() + all_small;
    free_.reserve(small.count);
    free_large_.reserve(large.count);
    for (std::uint32_t i = small.count; i-- > 0;) free_.push_back(pages_.data() + i * small.bytes);
    for (std::uint32_t i = large.count; i-- > 0;) free_large_.push_back(first_large_ + i * large.bytes);
    return true;
  }

  /// Null: all are in use.
  std::byte* take() noexcept { return take_of(free_); }
  /// One that holds `bytes`. Null: all of that size are in use. Requires: at most most_bytes().
  std::byte* take(std::size_t bytes) noexcept { return take_of(bytes <= bytes_ ? free_ : free_large_); }
  void give_back(std::byte* bounce_buffer) noexcept {
    (bounce_buffer < first_large_ ? free_ : free_large_).push_back(bounce_buffer);
  }

  /// How many small buffers are free.
  std::size_t room() const noexcept { return free_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t most_bytes() const noexcept { return most_bytes_; }
  std::uint32_t key() const noexcept { return pages_.region().lkey; }

 private:
  static std::byte* take_of(std::vector<std::byte*>& free) noexcept {
    if (free.empty()) return nullptr;
    std::byte* const bounce_buffer = free.back();
    free.pop_back();
    return bounce_buffer;
  }

  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = 0;
  RegisteredPages pages_;
  std::byte* first_large_ = nullptr;  // behind the small ones
  std::vector<std::byte*> free_;
  std::vector<std::byte*> free_large_;
};

}  // namespace aqueduct::conduits::ibv
