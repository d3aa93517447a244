#include "core/joint_sleep.hpp"

#include <algorithm>

#include <poll.h>
#include <time.h>

namespace aqueduct::core {
namespace {

timespec timespec_of(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

}  // namespace

JointSleep::JointSleep(Conduit* near, Conduit* far, int bell) noexcept : bell_(bell) {
  for (Conduit* conduit : {near, far}) {
    if (conduit == nullptr) continue;
    Waitable* const waitable = conduit->waitable();
    if (waitable != nullptr) on_[conduits_++] = waitable;
    if (waitable == nullptr) can_sleep_ = false;
  }
}

JointSleep::~JointSleep() { disarm(); }

void JointSleep::disarm() noexcept {
  while (armed_ > 0) on_[--armed_]->disarm();
}

bool JointSleep::arm() noexcept {
  if (!can_sleep_ || conduits_ == 0) return false;
  if (conduits_ == 1 && bell_ < 0) {
    on_[0]->arm();
    armed_ = 1;
    return true;
  }
  while (armed_ < conduits_) {
    descriptors_[armed_] = on_[armed_]->arm_descriptor();
    if (descriptors_[armed_] < 0) {
      disarm();
      return false;
    }
    ++armed_;
  }
  return true;
}

void JointSleep::sleep(std::chrono::nanoseconds limit) noexcept {
  if (limit.count() <= 0) return;
  if (conduits_ == 1 && bell_ < 0) return on_[0]->sleep(limit);
  std::array<pollfd, kMost + 1> readable{};
  for (std::size_t i = 0; i < conduits_; ++i) readable[i] = {descriptors_[i], POLLIN, 0};
  readable[conduits_] = {bell_, POLLIN, 0};  // ppoll ignores a negative descriptor
  const timespec time = timespec_of(limit);
  ::ppoll(readable.data(), conduits_ + 1, &time, nullptr);
}

void JointSleep::nap(std::chrono::nanoseconds limit) noexcept {
  if (limit.count() <= 0) return;
  const timespec time = timespec_of(limit);
  ::nanosleep(&time, nullptr);
}

std::chrono::nanoseconds JointSleep::cut(std::chrono::nanoseconds limit) const noexcept {
  for (std::size_t i = 0; i < conduits_; ++i) limit = std::min(limit, on_[i]->within());
  return limit;
}

}  // namespace aqueduct::core
