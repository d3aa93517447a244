#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

namespace aqueduct::core {

/// What a network does with a local buffer.
enum class LocalUse : std::uint8_t {
  read,  ///< the source of a put: it may lie in pages that cannot be written
  write  ///< what a get fills
};

/// A registered range of local memory outside segments. `Region` is the
/// network's object for it: an owning pointer, null while nothing is registered.
template <class Region>
class LocalRegistration {
 public:
  const Region& region() const noexcept { return region_; }

 private:
  template <class>
  friend class LocalRegistrations;

  bool covers(Bytes buffer, LocalUse use) const noexcept {
    return region_ != nullptr && !ended_ && (writable_ || use == LocalUse::read) &&
           buffer.data() >= memory_.data() &&
           buffer.data() + buffer.size() <= memory_.data() + memory_.size();
  }

  Region region_;
  MutableBytes memory_;
  std::uint32_t users_ = 0;
  std::uint64_t last_use_ = 0;
  bool writable_ = true;
  bool ended_ = false;  // its memory has ended while a transfer used it: nobody else may
};

/// Registers local buffers while transfers use them, for networks
/// that need it. Transfers of the same memory share one registration.
///
/// The library does not learn when a program frees memory, and a registration of freed memory is wrong. So at most
/// `keep` bytes stay registered without a user, none by default: docs/decisions/0021-local-registrations.md. If there
/// are more, or more than `most` bytes with those in use, the registration that was unused for longest ends first.
template <class Region>
class LocalRegistrations {
 public:
  using Registration = LocalRegistration<Region>;
  static constexpr std::size_t kEntries = 64;

  explicit LocalRegistrations(std::size_t keep, std::size_t most = SIZE_MAX)
      : keep_(keep), most_(most), entries_(std::make_unique<Registration[]>(kEntries)) {}

  /// Returns a registration that covers `buffer` and allows `use`: an existing one, or a new one. A new one allows both,
  /// unless the buffer's pages cannot be written.
  ///
  /// `add` registers memory: Region(MutableBytes, LocalUse, int& error), null and a negative errno if the network refuses;
  /// -EFAULT: the pages do not allow that use.
  /// Errors: null, with `error`: -EAGAIN (every entry is in use, or no more can be pinned
  ///         until a transfer gives a registration back), -ENOMEM (the buffer is longer
  ///         than `most`, or the network pins nothing at all), or the error of `add`.
  template <class Add>
  Registration* borrow(Bytes buffer, LocalUse use, int& error, const Add& add) noexcept;
  void give_back(Registration& registration) noexcept {
    if (--registration.users_ != 0) return;
    kept_ += registration.memory_.size();
    if (registration.ended_) close(registration);
    while (kept_ > keep_) close(*oldest_idle());
  }
  bool in_use() noexcept {
    return std::ranges::any_of(all(), [](const Registration& entry) { return entry.users_ != 0; });
  }
  /// `memory` is about to be unmapped or freed: ends the registrations that overlap it. One that a transfer still uses
  /// gets no further user, and ends with that transfer.
  void invalidate(Bytes memory) noexcept {
    for (Registration& entry : all()) {
      const bool apart = entry.memory_.data() + entry.memory_.size() <= memory.data() ||
                         memory.data() + memory.size() <= entry.memory_.data();
      if (entry.region_ == nullptr || apart) continue;
      entry.ended_ = true;
      if (entry.users_ == 0) close(entry);
    }
  }

 private:
  std::span<Registration> all() noexcept { return {entries_.get(), kEntries}; }
  void close(Registration& entry) noexcept {
    entry.region_.reset();
    entry.ended_ = false;
    kept_ -= entry.memory_.size();
    held_ -= entry.memory_.size();
  }
  Registration* oldest_idle() noexcept {
    Registration* oldest = nullptr;
    for (Registration& entry : all()) {
      if (entry.region_ == nullptr || entry.users_ != 0) continue;
      if (oldest == nullptr || entry.last_use_ < oldest->last_use_) oldest = &entry;
    }
    return oldest;
  }

  std::size_t keep_;
  std::size_t most_;
  std::size_t kept_ = 0;  // registered bytes without a user
  std::size_t held_ = 0;  // all registered bytes
  std::uint64_t clock_ = 0;
  std::unique_ptr<Registration[]> entries_;
};

template <class Region>
template <class Add>
auto LocalRegistrations<Region>::borrow(Bytes buffer, LocalUse use, int& error, const Add& add) noexcept
    -> Registration* {
  Registration* empty = nullptr;
  for (Registration& entry : all()) {
    if (entry.covers(buffer, use)) {
      if (entry.users_++ == 0) kept_ -= entry.memory_.size();
      entry.last_use_ = ++clock_;
      return &entry;
    }
    if (entry.region_ == nullptr) empty = &entry;
  }
  if (buffer.size() > most_) {
    error = -ENOMEM;
    return nullptr;
  }
  while (empty == nullptr || buffer.size() > most_ - held_) {
    empty = oldest_idle();
    if (empty == nullptr) {
      error = -EAGAIN;
      return nullptr;
    }
    close(*empty);
  }
  // Memory that is only read is registered as writable too if it can be: one registration serves puts and gets.
  const MutableBytes memory{const_cast<std::byte*>(buffer.data()), buffer.size()};
  const auto try_to_add = [&] {
    empty->writable_ = true;
    empty->region_ = add(memory, LocalUse::write, error);
    if (empty->region_ != nullptr || error != -EFAULT || use == LocalUse::write) return;
    empty->writable_ = false;
    empty->region_ = add(memory, LocalUse::read, error);
  };
  try_to_add();
  while (empty->region_ == nullptr &&
         error != -EFAULT) {  // perhaps a limit on pinned memory: end registrations without a user
    Registration* const idle = oldest_idle();
    if (idle == nullptr) {
      if (error == -ENOMEM && in_use()) error = -EAGAIN;
      return nullptr;
    }
    close(*idle);
    try_to_add();
  }
  if (empty->region_ == nullptr) return nullptr;
  empty->memory_ = memory;
  held_ += memory.size();
  empty->users_ = 1;
  empty->last_use_ = ++clock_;
  return empty;
}

}  // namespace aqueduct::core
