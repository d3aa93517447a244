#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

namespace aqueduct::conduits::udp {

class UdpConduit;

/// The udp conduits of one process. When they end one after another on one thread, nobody polls the remaining ones, and
/// they would never acknowledge what the first one sent. So a conduit that ends polls the others.
class ProcessConduits {
 public:
  void join(UdpConduit& one) {
    const std::lock_guard lock(mutex_);
    all_.push_back(&one);
  }
  void leave(UdpConduit& one) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(all_, &one);
  }
  template <class Each>
  void for_each_but(const UdpConduit& one, const Each& each) noexcept {
    const std::lock_guard lock(mutex_);
    for (UdpConduit* other : all_) {
      if (other != &one) each(*other);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<UdpConduit*> all_;
};

}  // namespace aqueduct::conduits::udp
