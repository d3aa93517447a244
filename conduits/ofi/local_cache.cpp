#include "conduits/ofi/local_cache.hpp"

#include <rdma/fi_errno.h>

#include <algorithm>

namespace aqueduct::conduits::ofi {

LocalCache::LocalCache(Registrations& registrations, std::size_t keep)
    : registrations_(registrations), keep_(keep), entries_(std::make_unique<Registration[]>(kEntries)) {}

Registration* LocalCache::borrow(core::Bytes buffer, int& error) noexcept {
  Registration* empty = nullptr;
  for (Registration& entry : std::span(entries_.get(), kEntries)) {
    if (entry.covers(buffer)) {
      if (entry.users_++ == 0) kept_ -= entry.memory_.size();
      entry.last_use_ = ++clock_;
      return &entry;
    }
    if (entry.region_ == nullptr) empty = &entry;
  }
  if (empty == nullptr && (empty = oldest_idle()) != nullptr) close(*empty);
  if (empty == nullptr) {
    error = -FI_EAGAIN;
    return nullptr;
  }
  // Of memory that is only read, too: the provider wants one kind of registration for both.
  const core::MutableBytes memory{const_cast<std::byte*>(buffer.data()), buffer.size()};
  empty->region_ = registrations_.add_local(memory, error);
  while (empty->region_ == nullptr) {  // perhaps a limit on what is pinned: what nobody uses goes
    Registration* const idle = oldest_idle();
    if (idle == nullptr) {
      if (error == -FI_ENOMEM && any_used()) error = -FI_EAGAIN;
      return nullptr;
    }
    close(*idle);
    empty->region_ = registrations_.add_local(memory, error);
  }
  empty->memory_ = memory;
  empty->users_ = 1;
  empty->last_use_ = ++clock_;
  return empty;
}

void LocalCache::give_back(Registration& registration) noexcept {
  if (--registration.users_ != 0) return;
  kept_ += registration.memory_.size();
  while (kept_ > keep_) close(*oldest_idle());
}

void LocalCache::invalidate(core::Bytes memory) noexcept {
  for (Registration& entry : std::span(entries_.get(), kEntries)) {
    const bool apart = entry.memory_.data() + entry.memory_.size() <= memory.data() ||
                       memory.data() + memory.size() <= entry.memory_.data();
    if (entry.region_ != nullptr && entry.users_ == 0 && !apart) close(entry);
  }
}

void LocalCache::close(Registration& entry) noexcept {
  entry.region_.reset();
  kept_ -= entry.memory_.size();
}

bool LocalCache::any_used() const noexcept {
  return std::ranges::any_of(std::span(entries_.get(), kEntries),
                             [](const Registration& entry) { return entry.users_ != 0; });
}

Registration* LocalCache::oldest_idle() noexcept {
  Registration* oldest = nullptr;
  for (Registration& entry : std::span(entries_.get(), kEntries)) {
    if (entry.region_ == nullptr || entry.users_ != 0) continue;
    if (oldest == nullptr || entry.last_use_ < oldest->last_use_) oldest = &entry;
  }
  return oldest;
}

}  // namespace aqueduct::conduits::ofi
