#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <queue>
#include <random>
#include <thread>
#include <vector>

namespace aqueduct::support {

/// A cable between two hosts that is long and bad, by a thread of this process: for what the kernel here cannot do to
/// packets (there is no netem). Which frames it treats how follows from the seed and the order in which they come.
class Relay {
 public:
  struct Plan {
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds jitter{0};  ///< up to so much more or less; frames keep their order
    double loss = 0;                     ///< shares of all frames
    double duplicate = 0;
    double reorder = 0;  ///< overtaken by what comes within `hold` after them
    std::chrono::nanoseconds hold{1'000'000};
    std::uint64_t seed = 1;
  };
  struct Counts {
    std::uint64_t frames = 0, lost = 0, repeated = 0, held = 0;
  };

  /// Takes over what NetworkNamespaces::plug has returned for two hosts.
  Relay(std::array<int, 2> ends, const Plan& plan);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// So far, in both directions. While it runs, of slightly different moments.
  Counts counts() const noexcept { return {frames_, lost_, repeated_, held_}; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Flying {
    Clock::time_point at;
    std::uint64_t order;
    std::size_t to;
    std::vector<char> frame;
    bool operator<(const Flying& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  void run();
  void take(std::size_t from);
  void deliver();
  bool chance(double share) { return std::uniform_real_distribution<>()(dice_) < share; }

  const std::array<int, 2> ends_;
  const Plan plan_;
  const int stop_;
  std::mt19937_64 dice_;
  std::priority_queue<Flying> flying_;
  std::array<Clock::time_point, 2> latest_{};  // arrival of a frame that keeps its place
  std::uint64_t order_ = 0;
  std::atomic<std::uint64_t> frames_ = 0, lost_ = 0, repeated_ = 0, held_ = 0;
  std::thread thread_;
};

}  // namespace aqueduct::support
