#pragma once

#include "conduits/ibv/verbs.hpp"
#include "core/conduit.hpp"

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
      : memory_(static_cast<std::byte*>(::operator new(bytes, kPage))),
        region_(verbs.reg_mr(&domain, memory_.get(), bytes, access), {verbs.dereg_mr}) {}

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

/// Registered buffers of one size, for what is short and lies outside segments: made at the start, none is made later.
class Slots {
 public:
  /// False, and errno, if they cannot be had.
  bool open(const Verbs& verbs, ibv_pd& domain, std::uint32_t count, std::size_t bytes) {
    bytes_ = bytes;
    pages_ = RegisteredPages(verbs, domain, count * bytes, IBV_ACCESS_LOCAL_WRITE);
    if (!pages_) return false;
    free_.reserve(count);
    for (std::uint32_t i = count; i-- > 0;) free_.push_back(pages_.data() + i * bytes);
    return true;
  }

  /// Null: all are in use.
  std::byte* take() noexcept {
    if (free_.empty()) return nullptr;
    std::byte* const slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::byte* slot) noexcept { free_.push_back(slot); }

  bool empty() const noexcept { return free_.empty(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::uint32_t key() const noexcept { return pages_.region().lkey; }

 private:
  std::size_t bytes_ = 0;
  RegisteredPages pages_;
  std::vector<std::byte*> free_;
};

}  // namespace aqueduct::conduits::ibv
