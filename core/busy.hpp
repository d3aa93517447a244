#pragma once

#include <cstdint>

namespace aqueduct::core {

/// Whether a layer has work that waits for `Layer::advance`: counted in EndpointState::busy while it is set. Ends with its
/// owner.
class Busy {
 public:
  explicit Busy(std::uint32_t& count) noexcept : count_(count) {}
  ~Busy() { set(false); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  void set(bool busy) noexcept {
    if (busy == busy_) return;
    busy_ = busy;
    count_ += busy ? 1u : -1u;
  }

 private:
  std::uint32_t& count_;
  bool busy_ = false;
};

}  // namespace aqueduct::core
