#pragma once

#include <cstdint>

namespace aqueduct::core {

/// A layer's mark that it has queued work for `Layer::advance`. While the mark is set, it counts as one in
/// EndpointState::busy, so that progress calls the layers and a wait does not sleep for long.
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
