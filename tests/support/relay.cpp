#include "tests/support/relay.hpp"

#include <algorithm>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace aqueduct::support {
namespace {

constexpr std::size_t kLongestFrame = 16 * 1024;
constexpr int kMostAtOnce = 64;  // limit per call, so that due frames are delivered

}  // namespace

Relay::Relay(std::array<int, 2> ends, const Plan& plan)
    : ends_(ends), plan_(plan), stop_(::eventfd(0, EFD_CLOEXEC)), dice_(plan.seed), thread_([this] {
        run();
      }) {}

Relay::~Relay() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  for (const int descriptor : {ends_[0], ends_[1], stop_}) ::close(descriptor);
}

void Relay::run() {
  for (;;) {
    deliver();
    std::array<pollfd, 3> events{{{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}, {stop_, POLLIN, 0}}};
    timespec pause{};
    if (!flying_.empty()) {
      const auto left = std::max(flying_.top().at - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
      pause = {seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    }
    ::ppoll(events.data(), events.size(), flying_.empty() ? nullptr : &pause, nullptr);
    if (events[2].revents != 0) return;
    for (const std::size_t from : {0, 1}) {
      if ((events[from].revents & POLLIN) != 0) take(from);
    }
  }
}

void Relay::take(std::size_t from) {
  std::array<char, kLongestFrame> buffer;
  const std::size_t to = 1 - from;
  for (int i = 0; i < kMostAtOnce; ++i) {
    const ssize_t bytes = ::read(ends_[from], buffer.data(), buffer.size());
    if (bytes <= 0) return;
    ++frames_;
    if (chance(plan_.loss)) {
      ++lost_;
      continue;
    }
    const double swing = std::uniform_real_distribution<>(-1, 1)(dice_);
    auto at = Clock::now() + plan_.delay +
              std::chrono::duration_cast<std::chrono::nanoseconds>(plan_.jitter * swing);
    if (chance(plan_.reorder)) {
      ++held_;
      at += plan_.hold;
    } else {
      at = latest_[to] = std::max(at, latest_[to]);
    }
    const std::vector<char> frame(buffer.begin(), buffer.begin() + bytes);
    if (chance(plan_.duplicate)) {
      ++repeated_;
      flying_.push({at, order_++, to, frame});
    }
    flying_.push({at, order_++, to, frame});
  }
}

// A frame that an end has no room for is lost, as on any cable.
void Relay::deliver() {
  for (const auto now = Clock::now(); !flying_.empty() && flying_.top().at <= now; flying_.pop()) {
    const Flying& next = flying_.top();
    if (::write(ends_[next.to], next.frame.data(), next.frame.size()) < 0) ++lost_;
  }
}

}  // namespace aqueduct::support
