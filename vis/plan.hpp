#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace aqueduct::vis {

/// How a transfer goes.
enum class Plan : std::uint8_t { direct, pieces, packed, box, native };
inline constexpr std::size_t kPlans = 5;

/// What a plan depends on.
struct Question {
  bool is_get = false;
  bool far = false;               ///< by the far conduit: each has its own answers
  bool native_rma = false;        ///< single pieces are operations of the network
  std::uint64_t bytes = 0;        ///< not 0
  std::uint64_t runs = 0;         ///< contiguous on both sides
  std::uint64_t runs_there = 0;   ///< contiguous in the peer's segment
  std::uint64_t spread = 0;       ///< from the first byte there to the last
  bool near_one_another = false;  ///< pieces that follow in order lie near in memory
  std::uint64_t packet = 0;       ///< bytes that one packet holds
  std::uint64_t box = 0;          ///< bytes that one bounding box may have; 0: it cannot be used
  std::uint64_t list = 0;         ///< pieces that one native operation takes; 0: it cannot be used
  std::uint64_t forced = kPlans;  ///< a plan to take if it can be had
};

/// What was chosen, to say later how long it took.
struct Choice {
  Plan plan = Plan::packed;
  std::uint32_t entry = 0;
  std::uint64_t key = 0;
};

/// Chooses plans: by a model of what each costs, and among those that this cannot tell apart, by what like transfers took.
///
/// Nothing is measured but the transfers themselves: a call that does not block must not wait for its peer. Transfers are
/// alike when their sizes, runs and spread agree within a quarter of an octave. Each plan that the model does not
/// rule out is tried kTries times in turns, then the one of the least time is taken, and now and then another one again.
class Planner {
 public:
  Choice choose(const Question& question) noexcept;
  void took(const Choice& choice, std::uint64_t bytes, std::uint64_t nanoseconds) noexcept;

  /// The model: nanoseconds by plan; infinite when it cannot be had.
  static std::array<float, kPlans> model(const Question& question) noexcept;

  static constexpr std::uint8_t kTries =
      3;  // chosen: the least of three is seldom far from the least of many
  static constexpr std::size_t kEntries = 1024;  // chosen: 48 KiB
  /// Chosen: 1 % of transfers look whether another plan has become better. Odd, so that it is not always the last of a
  /// burst, which is not measured.
  static constexpr std::uint32_t kAgain = 127;
  /// Chosen: of such looks, those at plans that were more than twice as slow.
  static constexpr std::uint32_t kAgainWhatIsSlow = 16;
  /// Chosen: what the model may be wrong by.
  static constexpr float kTrust = 5;

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::array<float, kPlans> per_byte{};  ///< the least time seen, in ns; 0: none
    std::array<std::uint8_t, kPlans> tries{};
    std::uint32_t uses = 0;
    bool settled = false;  ///< what the model leaves has been tried
  };
  static Plan fastest(const Entry& entry) noexcept;

  std::unique_ptr<Entry[]> entries_;  ///< made at the first choice
};

}  // namespace aqueduct::vis
