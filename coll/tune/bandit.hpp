#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// Which of some candidates each call of a key uses, while a program runs: most calls the best one known, at most one in 17
/// another one.
///
/// Calls are counted in *epochs*. One with a trial has 16 calls: the first of them uses another candidate, then the members begin to
/// combine what they have measured, and at its end they go on by the result. Between the two all calls use the best
/// one, so there is time for the combining. A candidate that is not much slower is tried in the next two epochs too, and then it
/// is the best one if its median is clearly less. Each time is compared with that of the best one in the calls
/// before: what disturbs a machine for a while disturbs both. Between two epochs there is a call at least.
///
/// Once all candidates have been tried, trials become rare, but the members go on combining: epochs without a trial, of 19 calls
/// at least, lie between. A best candidate that has become slower by half is *doubted*: the others are tried again, the fastest first, and
/// one that takes less than two thirds of the best one's time replaces it after a single trial. So the best one is left
/// within 59 calls. Where combining costs more than 1/400 of the calls' time, these epochs are longer, and it takes longer.
///
/// What is chosen is a pure function of the number of calls and of what the members have combined, so members that make
/// the same calls choose alike (docs/tuning.md).
class Bandit {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// Of so many last times of the best candidate the median counts.
  static constexpr std::uint32_t kSamples = 16;
  /// A time that nobody has measured.
  static constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62;
  /// 64 bytes, of which each becomes the greatest of all members.
  using Words = std::array<std::uint64_t, 8>;
  /// What is due before the next call.
  enum class Due : std::uint8_t {
    nothing,
    combine,  ///< the members begin to combine their words()
    go_on,    ///< and go_on() with the result
  };

  /// Candidate 0 is the one that would run without this; the others in the order in which they are tried.
  explicit Bandit(std::size_t candidates);
  /// Candidate 0 was found to be the fastest before, so the others are tried as seldom as after all have been tried. Before the
  /// first call, on all members.
  void settle() noexcept;

  Due due() const noexcept;
  /// What this member has measured: of the best candidate, of the one that is tried, and of the best one's very last calls. `cost`
  /// is the time that its last combining took, in the unit of took(); 0: unknown.
  Words words(std::uint64_t cost = 0) noexcept;
  /// The next epoch begins. Returns whether the best candidate is another one now.
  bool go_on(const Words& all) noexcept;
  /// The candidate of the next call, which is counted.
  std::size_t next() noexcept;
  /// The call of the last next() was not made.
  void take_back() noexcept;
  /// How long a call with this candidate has taken here, in any unit. Calls that have failed are not told.
  void took(std::size_t candidate, std::uint64_t time) noexcept;

  std::size_t best() const noexcept { return best_; }
  /// The time of the slowest member, as combined last; kUnknown: it was not tried yet.
  std::uint64_t time_of(std::size_t candidate) const noexcept { return times_[candidate]; }
  /// The fastest of the others that were tried; kNone: there is none.
  std::size_t runner_up() const noexcept;
  /// All candidates have been tried since the best one became that, or was found to be slow.
  bool is_settled() const noexcept { return settled_; }
  /// Each candidate has been tried at some time.
  bool knows_all() const noexcept { return std::ranges::find(times_, kUnknown) == times_.end(); }
  std::uint64_t trials() const noexcept { return trials_; }

 private:
  /// A few last times; the median of them counts.
  struct Samples {
    std::array<std::uint64_t, kSamples> kept{};
    std::size_t count = 0;  ///< also of those that were replaced

    void add(std::uint64_t time) noexcept { kept[count++ % kSamples] = time; }
    std::uint64_t median() const noexcept;
    std::uint64_t least_of_last(std::size_t number) const noexcept;
  };
  /// What is counted together: the calls before an epoch, and the epoch.
  struct Epoch {
    std::uint32_t before = 0;  ///< calls of the best one; then comes the trial, if there is one
    std::uint32_t calls = 0;   ///< with those before
    std::uint32_t combine_at = 0;
    std::uint32_t trial = 0;  ///< of the candidate's in a row the first, second or third; 0: there is none
    std::uint32_t after = 0;  ///< calls of the best one between the trial and the combining
    std::size_t candidate = kNone;
  };

  bool is_trial(std::uint32_t call) const noexcept;
  void begin(const Epoch& epoch) noexcept;
  void begin_watch(std::uint32_t calls) noexcept;
  void begin_trial(std::size_t candidate, std::uint32_t trial, std::uint32_t before,
                   std::uint32_t after) noexcept;
  void begin_next() noexcept;
  void plan_another() noexcept;
  std::size_t another() const noexcept;
  void try_all_again() noexcept;
  bool may_try() const noexcept;
  std::uint32_t calls_of_watch() const noexcept;

  std::vector<std::uint64_t> times_;  // [candidate]
  std::vector<bool> tried_;           // [candidate], since the last time that all were to be tried
  std::size_t best_ = 0;
  bool settled_ = false;
  bool doubted_ = false;         // the best one has become slow, and not all others have been tried since
  std::uint32_t spacing_;        // calls between the trials of two candidates
  std::size_t planned_ = kNone;  // the candidate that is tried next
  std::uint32_t rest_ = 0;       // calls without a trial before that
  Epoch epoch_;
  std::uint32_t call_ = 0;  // in the epoch
  bool combining_ = false;
  Samples best_samples_;
  Samples samples_;  // of the epoch's candidate, and of the epoch before if that has tried the same one
  std::uint64_t spent_ = 0;  // on all calls, by the combined times
  std::uint64_t lost_ = 0;   // of these, on trials of what was slower
  std::uint64_t trials_ = 0;
  std::uint64_t cost_ = kUnknown;  // the time of one combining on the slowest member: the least that was seen
};

}  // namespace aqueduct::coll
