#pragma once

#include "conduits/ucx/wire.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ucx {

class UcxConduit;

/// Chosen: a copy of so many bytes costs less than waiting for the source.
inline constexpr std::size_t kMostInject = 1024;

/// An operation of the layers above that was given to UCX and has not ended.
struct Pending {
  Pending* next = nullptr;  ///< in the free list, or in a list of puts that one flush ends
  UcxConduit* owner = nullptr;
  core::Token token = 0;
  Rank peer = kNoRank;
  bool in_use = false;
  bool orphan = false;                        ///< its end has been reported: UCX never says it, or too late
  std::uint32_t generation = 0;               ///< rises each time: an answer that comes late finds nobody
  std::uint8_t parts = 0;                     ///< of a put by message: whose end is still awaited
  static constexpr std::uint8_t kUcx = 1;     ///< UCX has not sent all of it
  static constexpr std::uint8_t kAnswer = 2;  ///< the target has not answered
  Status outcome;                             ///< what it has answered
  PutHead head{};                             ///< of a put by message
  std::byte* inject = nullptr;                ///< kMostInject bytes for a source that is to be free at once
};

/// All that an endpoint may have pending, made once. What is given back last is taken first: it is still in the cache.
class PendingPool {
 public:
  PendingPool(UcxConduit& owner, std::size_t count)
      : injected_(std::make_unique_for_overwrite<std::byte[]>(count * kMostInject)), all_(count) {
    for (std::size_t i = count; i-- > 0;) {
      all_[i].owner = &owner;
      all_[i].inject = injected_.get() + i * kMostInject;
      all_[i].next = free_;
      free_ = &all_[i];
    }
  }

  /// Null: there is no room.
  Pending* take(Rank peer, core::Token token) noexcept {
    Pending* const one = free_;
    if (one == nullptr) return nullptr;
    free_ = one->next;
    one->next = nullptr;
    one->peer = peer;
    one->token = token;
    one->in_use = true;
    ++in_use_;
    return one;
  }
  void give(Pending& one) noexcept {
    one.in_use = one.orphan = false;
    one.parts = 0;
    one.outcome = {};
    ++one.generation;
    one.next = free_;
    free_ = &one;
    --in_use_;
  }
  std::uint32_t index(const Pending& one) const noexcept {
    return static_cast<std::uint32_t>(&one - all_.data());
  }
  /// Null when that operation is over.
  Pending* find(std::uint32_t index, std::uint32_t generation) noexcept {
    if (index >= all_.size() || !all_[index].in_use || all_[index].generation != generation) return nullptr;
    return &all_[index];
  }
  std::size_t in_use() const noexcept { return in_use_; }
  std::vector<Pending>& all() noexcept { return all_; }

 private:
  std::unique_ptr<std::byte[]> injected_;
  std::vector<Pending> all_;
  Pending* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace aqueduct::conduits::ucx
