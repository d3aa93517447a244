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

/// A long and faulty cable between two hosts, played by a thread of this process. For kernels that cannot do this to
/// packets (without netem). The seed and the order of the frames determine each frame's treatment.
class Relay {
 public:
  struct Plan {
    std::chrono::nanoseconds delay{0};
    std::chrono::nanoseconds jitter{0};  ///< random deviation, plus or minus; frames keep their order
    double loss = 0;                     ///< shares of all frames
    double duplicate = 0;
    double reorder = 0;  ///< held for `hold`, so that later frames overtake it
    std::chrono::nanoseconds hold{1'000'000};
    std::uint64_t seed = 1;
  };
  struct Counts {
    std::uint64_t frames = 0, lost = 0, repeated = 0, held = 0;
  };

  /// Takes ownership of the descriptors that NetworkNamespaces::plug has returned for two hosts.
  Relay(std::array<int, 2> ends, const Plan& plan);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Counts so far, in both directions. While the relay runs, they are from slightly different moments.
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
  std::array<Clock::time_point, 2> latest_{};  // latest arrival of frames that keep their order
  std::uint64_t order_ = 0;
  std::atomic<std::uint64_t> frames_ = 0, lost_ = 0, repeated_ = 0, held_ = 0;
  std::thread thread_;
};

}  // namespace aqueduct::support
