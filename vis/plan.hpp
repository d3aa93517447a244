#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace aqueduct::vis {

/// How a transfer is carried out.
///
/// direct  copies during the call: the peer is mapped here
/// pieces  one put, get or atomic for each contiguous run
/// packed  packets of description and data, which the peer's processor unpacks or gathers
/// box     gets of whole bounding boxes, of which the pieces are kept
/// native  lists of pieces given to the conduit (core::NativeVector)
enum class Plan : std::uint8_t { direct, pieces, packed, box, native };
inline constexpr std::size_t kPlans = 5;

/// The properties of a transfer on which the choice of a plan depends.
struct Question {
  bool is_get = false;
  bool far = false;               ///< by the far conduit; times of the two conduits are kept apart
  bool native_rma = false;        ///< the network does single pieces by native RMA
  std::uint64_t bytes = 0;        ///< not 0
  std::uint64_t runs = 0;         ///< number of runs that are contiguous on both sides
  std::uint64_t runs_there = 0;   ///< number of runs that are contiguous in the peer's segment
  std::uint64_t spread = 0;       ///< bytes from the lowest to the highest byte in the peer's segment
  bool near_one_another = false;  ///< consecutive pieces are probably near in memory
  std::uint64_t packet = 0;       ///< bytes of data that one packet can hold
  std::uint64_t box = 0;          ///< largest bounding box, in bytes; 0: this plan is impossible
  std::uint64_t list = 0;         ///< pieces in one native operation; 0: this plan is impossible
  std::uint64_t forced = kPlans;  ///< a plan to take if it is possible; kPlans: none
};

/// A chosen plan, and where to record how long it takes.
struct PlanChoice {
  Plan plan = Plan::packed;
  std::uint32_t entry = 0;
  std::uint64_t key = 0;  ///< of the entry; 0: do not record
};

/// Chooses plans. A model of the costs rules out bad plans; measured times of similar transfers decide between the
/// rest.
///
/// Only real transfers are measured: a calibration would have to wait for the peer, and a non-blocking call must not
/// (docs/decisions/0044-vis-plans-are-measured-as-they-go.md). Transfers are similar when their bytes, runs and spread
/// agree within a quarter of an octave. Each plan that the model leaves is tried kTries times, in turns, or once if it is
/// far slower. Then the plan with the least time is taken, and now and then another one is tried again.
class Planner {
 public:
  PlanChoice choose(const Question& question) noexcept;
  /// Records how long a transfer with that choice took.
  void took(const PlanChoice& choice, std::uint64_t bytes, std::uint64_t nanoseconds) noexcept;

  /// The model: the time of each plan in nanoseconds; infinite if the plan is impossible.
  static std::array<float, kPlans> model(const Question& question) noexcept;

  /// Chosen: the least of three times is seldom far from the least of many.
  static constexpr std::uint8_t kTries = 3;
  static constexpr std::size_t kEntries = 1024;  // chosen: 48 KiB
  /// Chosen: 1 of this many transfers, about 1 %, tries whether another plan has become better. Odd, so that it is not
  /// always the last transfer of a burst, which is not measured.
  static constexpr std::uint32_t kAgain = 127;
  /// Chosen: 1 of this many of these tries may also use plans that were more than twice as slow.
  static constexpr std::uint32_t kAgainWhatIsSlow = 16;
  /// Chosen: if the first try of a plan takes more than this many times as long as the fastest, it gets no second and third.
  static constexpr float kHopeless = 10;
  /// Chosen: the factor by which the model may be wrong.
  static constexpr float kTrust = 5;

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::array<float, kPlans> per_byte{};  ///< the least time seen, in ns per byte; 0: none
    std::array<std::uint8_t, kPlans> tries{};
    std::uint32_t uses = 0;
    bool settled = false;  ///< all plans that the model leaves have been tried
  };
  static Plan fastest(const Entry& entry) noexcept;
  static void drop_hopeless(Entry& entry, std::span<const std::size_t> left) noexcept;

  std::unique_ptr<Entry[]> entries_;  ///< a hash table without chains, allocated at the first choice
};

}  // namespace aqueduct::vis
