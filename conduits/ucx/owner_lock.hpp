#pragma once

#include <mutex>

namespace aqueduct::conduits::ucx {

/// Lets one thread at a time work on an endpoint: its owner or the progress thread. Without a progress thread it costs the test of
/// a flag.
class OwnerLock {
 public:
  /// Locks for the owner. Does nothing if the owner holds the lock already (a handler that sends), or without a progress
  /// thread.
  class Entry {
   public:
    explicit Entry(const OwnerLock& lock) noexcept : lock_(lock.shared_ && !lock.inside_ ? &lock : nullptr) {
      if (lock_ == nullptr) return;
      lock_->mutex_.lock();
      lock_->inside_ = true;
    }
    ~Entry() {
      if (lock_ == nullptr) return;
      lock_->inside_ = false;
      lock_->mutex_.unlock();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    const OwnerLock* lock_;
  };

  /// Says whether there is a progress thread. Called by the owner.
  void share(bool shared) noexcept { shared_ = shared; }
  /// For the progress thread.
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  mutable std::mutex mutex_;
  mutable bool inside_ = false;  // the owner holds it
  bool shared_ = false;
};

}  // namespace aqueduct::conduits::ucx
