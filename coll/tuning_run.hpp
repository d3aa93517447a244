#pragma once

#include <aqueduct/coll.hpp>
#include <aqueduct/tune.hpp>

#include "coll/engine/collectives.hpp"
#include "coll/tune/search.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {

/// A call of `tune` on one member: measures on the team, and agrees with the other members on what was measured.
///
/// Everything that all members must find alike goes through `agree`, an all-reduce; so what follows from it does too.
class TuningRun {
 public:
  TuningRun(Team& team, TuneOptions options) noexcept;
  ~TuningRun();
  TuningRun(const TuningRun&) = delete;
  TuningRun& operator=(const TuningRun&) = delete;

  /// Errors: those of `tune`; the engine has been told to give up if the other members would wait.
  Result<TuneReport> run(std::span<const Collective> operations, std::span<const std::uint64_t> bytes);

 private:
  /// Words of `agree` before those that it is asked for: a problem, and the time so far.
  static constexpr std::size_t kOwnWords = 2;
  /// What a wait may last longer than the whole call, before a member counts as gone. Chosen: a busy machine.
  static constexpr std::chrono::seconds kSlack{5};
  /// Longer times of the options count as this: no limit.
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);

  /// A call that is measured: an operation with its buffers.
  struct Call {
    TuningKey key;
    Shape shape;
    detail::CollCall call;
  };
  /// What takes part in a search.
  struct Field {
    const Call& call;
    std::vector<Timed> algorithms;
    std::vector<CollPlan> plans;  ///< one for each, so that measured calls choose nothing; none of a barrier
    /// More than 1: blocking calls that follow one another without a barrier, as programs make short ones. Their time is the mean.
    std::uint32_t in_a_row = 1;
    /// For each: fewer calls, if it is much slower than the fastest; empty: in_a_row.
    std::vector<std::uint32_t> rows = {};
  };
  struct Memory {
    std::vector<std::byte> in;
    std::vector<std::byte> out;
    std::vector<std::uint64_t> words;  ///< what is agreed on
  };

  static TuneOptions clamped(TuneOptions options) noexcept;
  /// Each word becomes the greatest of all members. Fails on all members if one of them has failed, or has too little time.
  Status agree(std::span<const std::uint64_t> mine);
  Status agree_on_arguments(std::span<const Collective> operations, std::span<const std::uint64_t> bytes);
  /// Whether the first member has saved what was found. Waits for it as long as it may wait for a file's lock.
  Result<bool> agree_on_saving(bool mine);
  void put_words(std::span<const std::uint64_t> mine);
  /// What the members have agreed on: the problem of one of them, or ok.
  Status agreed() noexcept;
  Status find(Collective operation, std::uint64_t bytes, std::size_t keys_left, TuneReport& report);
  /// Measures the choice beside all candidates, in the same turns.
  Status compare_with_all(const Field& searched, const Timed& chosen, Tuned& tuned);
  Status compare_in_one_heat(const Timed& chosen, Field& field, Tuned& tuned);
  Result<Call> call_of(Collective operation, std::uint64_t bytes);
  Result<std::vector<Samples>> measure(Field& field, std::span<const std::size_t> who, std::uint32_t times);
  Result<std::uint64_t> measure_once(Field& field, std::size_t which);
  Result<std::uint64_t> measure_in_a_row(const Field& field, std::size_t which);
  /// Finds how many calls are measured in a row.
  Status set_row(Field& field);
  /// For candidates that set_row has not seen: how many calls of each are in a row.
  Status set_rows(Field& field);
  /// Leaves out what cannot do the call after all: its plan would be one of another algorithm.
  Status bind_all(Field& field);
  static Status end_plans(Field& field) noexcept;
  Status try_barrier(const Field& field, std::size_t which) noexcept;
  bool is_tuned(Collective operation) const noexcept;
  Status wait(Event& event) noexcept;
  Status outcome(Status status) noexcept;
  void work() noexcept;
  void problem(ErrorCode code) noexcept;
  Status give_up(ErrorCode why) noexcept;
  bool save() noexcept;

  std::chrono::nanoseconds elapsed() const noexcept;
  /// How long a wait may last: beyond it a member does not come back from its work.
  std::chrono::nanoseconds patience() const noexcept;

  /// 0: no type that is tuned.
  static std::uint32_t bytes_of_element(ElementType type) noexcept {
    switch (type) {
      case ElementType::i32:
      case ElementType::u32:
      case ElementType::f32: return 4;
      case ElementType::i64:
      case ElementType::u64:
      case ElementType::f64: return 8;
      default: return 0;
    }
  }

  Team& team_;
  const TuneOptions options_;
  detail::EndpointState& state_;
  TeamEngine& engine_;
  core::Clock::time_point begin_;  ///< later by what was no search
  std::shared_ptr<Memory> memory_;
  std::uint64_t problem_ =
      0;  ///< of this member: its code, and the rank turned over: of several the least is told
  bool overlaps_ =
      false;  ///< one of the members has work between the begin of an operation and the wait for it
  std::uint64_t elapsed_ = 0;            ///< of all members, as agreed
  std::chrono::nanoseconds longest_{0};  ///< that a call has taken here
  std::vector<Decision> decisions_;
  bool unfinished_ = false;  ///< a call may still go on, and peers write to `memory_`
};

}  // namespace aqueduct::coll
