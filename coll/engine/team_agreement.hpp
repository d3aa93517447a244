#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include "coll/engine/call_description.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace aqueduct::coll {

/// What another member's news means for this one.
enum class Verdict : std::uint8_t {
  agrees,      ///< both have refused the same call: nothing to do
  remembered,  ///< this member has not made that call yet; `calls` will compare
  broken,      ///< the team is broken: operations with the number `broken_at` and above end with `mismatch`
  clearer,     ///< the team was broken already; `why` now names both calls, which it did not before
  known,       ///< the team was broken already
};

/// What this member has to tell all other members of the team.
struct CallNews {
  std::uint64_t number;
  CallDescription call;
};

/// Whether the members of a team make the same calls, as far as one member knows. It sends nothing itself.
///
/// A member tells all others of its call once it has seen that another member's differs, or has refused its own call.
/// If all members refuse a call alike, nothing has happened. Otherwise the team is broken, on all members: each that
/// has called learns it from the message, each other one when it calls. Operations with numbers below `broken_at`
/// must go on, because members that are behind may still wait for them.
///
/// Memory: a quarter of a KiB, as a job may have a thousand teams; 1.1 KiB more from the first call on, and a sentence for the log
///         when the team breaks. A member that has no memory for its calls is as one that has forgotten them.
/// Threads: those of the endpoint.
class TeamAgreement {
 public:
  /// `self`: this member's rank in the job. `members`: of the team; 0: not known.
  explicit TeamAgreement(Rank self, Rank members = 0) noexcept : self_(self), others_(members - 1) {}

  /// This member makes its next call: number 1, 2, …. A call that it refuses counts too (CallDescription::refused).
  /// Errors: mismatch (the team is broken, or a member has told of another call under this number); with the rank of
  ///         that member if it is known.
  Status calls(std::uint64_t number, const CallDescription& call) noexcept {
    const std::size_t at = number % kKept;
    if (has_memory()) [[likely]]
      memory_->copies[at] = call;
    calls_[at] = nullptr;
    made_ = number;
    if (is_quiet() && call.refused == 0) [[likely]]
      return {};
    return calls_slowly(number, call);
  }
  /// This member has refused its last call because it had no memory of its own for it. The team is broken for it from there
  /// on: its next call would show the others a mark that they take for another call, before they hear of the refusal. Unless
  /// all others have refused the call alike, or do so later: then the team is whole again.
  void lacked_memory() noexcept;
  /// Whether the team is broken for that reason alone, and the others may still refuse the call alike.
  bool in_doubt() const noexcept { return in_doubt_; }
  /// The team stays broken, whatever the others do.
  void end_doubt() noexcept { in_doubt_ = false; }
  /// Whether this member had memory to keep its calls: if not, `calls` tries to get it.
  bool keeps_calls() const noexcept { return memory_ != nullptr; }
  /// The next call, which this member does not refuse. Requires: is_quiet(), and `calls` before. Returns its number. `call` is not copied: it
  /// stays as it is until `forget`.
  std::uint64_t calls_quietly(const CallDescription& call) noexcept {
    const std::uint64_t number = ++made_;
    calls_[number % kKept] = &call;
    return number;
  }
  /// The description goes away, or changes. Copies it if a call is remembered by it.
  void forget(const CallDescription& call) noexcept;
  /// Whether the team is whole, and no member has told of a call that this one has yet to make.
  bool is_quiet() const noexcept { return heard_count_ == 0 && unkept_ == kNone && !broken(); }

  /// A member has told of its call. Afterwards there may be news.
  Verdict heard(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept;

  /// This member's call of that number; null if it has not made it, or does not remember it.
  const CallDescription* call_of(std::uint64_t number) const noexcept {
    return number != 0 && number <= made_ && remembers(number) ? &own(number) : nullptr;
  }
  /// Whether these are calls that members should not make under one number. Not if one of the two was refused: of those the
  /// members tell by themselves.
  static bool differ(const CallDescription& mine, const CallDescription& theirs) noexcept;

  /// A counter had a wrong fingerprint: a member has made another call under this number. `from`: that member, or
  /// kNoRank. Requires: this member has made the call. Always mismatch.
  Status saw_other(std::uint64_t number, Rank from) noexcept;

  /// After saw_other: what else this member has to tell, because the members may have disagreed from there on. That is its
  /// call before call `number`, if it is silent and not told yet; empty otherwise, and if it has been forgotten.
  std::optional<CallNews> silent_before(std::uint64_t number) noexcept;

  bool broken() const noexcept { return broken_at_ != 0; }
  /// The least number of a call of which the members are known to disagree; 0: none.
  std::uint64_t broken_at() const noexcept { return broken_at_; }
  /// One sentence for the log, with both calls if they are known; empty if the team is not broken, or there was no memory for it.
  const std::string& why() const noexcept { return why_; }
  /// no_memory with the member that had none for its call; else mismatch with the member that has called something else, if
  /// that is known; ok if the team is not broken.
  Status status() const noexcept { return broken() ? Status(code_, culprit_) : Status(); }

  /// What this member has to tell all others now: at most one thing after each of `calls`, `heard` and `saw_other`, and
  /// each number once. The next of these calls replaces it.
  std::optional<CallNews> take_news() noexcept;
  bool has_news() const noexcept { return news_.has_value(); }

  /// The number of this member's last call; 0: it has made none.
  std::uint64_t made() const noexcept { return made_; }

  static constexpr std::size_t kKept = 16;      ///< own calls whose descriptions are kept. Chosen
  static constexpr std::size_t kMostHeard = 8;  ///< calls of others that this member has not made yet. Chosen
  static constexpr std::size_t kMostRefused = 8;  ///< runs of refused calls that are remembered. Chosen

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Heard {
    std::uint64_t number;
    Rank from;
    CallDescription call;
  };
  /// Calls `first` to `last`, all refused by this member.
  struct Refused {
    std::uint64_t first, last;
  };
  enum class Past : std::uint8_t { called, refused, unknown };
  /// What the first call of the team, or news of one, makes.
  struct Memory {
    // [number % kKept], of this member's calls.
    std::array<CallDescription, kKept> copies{};
    std::array<std::uint64_t, kKept> told{};  ///< the number of the call of which all members know
    std::array<Heard, kMostHeard> heard{};
    std::array<Refused, kMostRefused> refused{};  ///< the oldest first
  };

  bool has_memory() noexcept { return memory_ != nullptr || make_memory(); }
  [[gnu::cold]] bool make_memory() noexcept;
  /// Requires: this member has made the call.
  bool remembers(std::uint64_t number) const noexcept {
    return made_ - number < kKept && number >= remembered_from_;
  }
  [[gnu::cold]] Status calls_slowly(std::uint64_t number, const CallDescription& call) noexcept;
  Verdict compare(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept;
  Verdict compare_with_forgotten(Rank from, std::uint64_t number, const CallDescription& theirs) noexcept;
  Verdict remember(const Heard& heard) noexcept;
  void remember_refusal(std::uint64_t number) noexcept;
  Past past(std::uint64_t number) const noexcept;
  Verdict breaks(std::uint64_t number, Rank from, const CallDescription* theirs,
                 const CallDescription* own) noexcept;
  Rank without_memory(Rank from, const CallDescription* theirs, const CallDescription* own) const noexcept;
  void count_lacking(std::uint64_t number) noexcept;
  bool all_lack(std::uint64_t number) const noexcept {
    return lacking_number_ == number && lacking_count_ == others_;
  }
  void tell(std::uint64_t number) noexcept;
  void tell_forgotten(std::uint64_t number) noexcept;
  /// Requires: remembers(number).
  const CallDescription& own(std::uint64_t number) const noexcept {
    const CallDescription* const callers = calls_[number % kKept];
    return callers != nullptr ? *callers : memory_->copies[number % kKept];
  }
  /// Whether all members know of this member's call, from this one or from one that has made the same call.
  bool is_told(std::uint64_t number) const noexcept { return memory_->told[number % kKept] == number; }
  void set_told(std::uint64_t number) noexcept { memory_->told[number % kKept] = number; }

  /// [number % kKept], of this member's calls: the caller's; null: it is among the copies.
  std::array<const CallDescription*, kKept> calls_{};
  std::unique_ptr<Memory> memory_;
  std::uint64_t remembered_from_ = ~std::uint64_t{0};  ///< calls before this one were made without memory
  std::size_t heard_count_ = 0;
  std::uint64_t unkept_ =
      kNone;                    ///< the least number of a call of which there was news, and no memory for it
  Rank unkept_from_ = kNoRank;  ///< whose news that was
  Rank unkept_lacking_ = kNoRank;  ///< the member that had no memory for its call, if the news said so
  std::size_t refused_count_ = 0;
  bool refused_lost_ = false;  ///< older runs than those of refused_ were forgotten
  bool names_both_ = false;    ///< why_ does
  bool in_doubt_ = false;
  Rank self_;
  Rank others_;                       ///< number of the other members
  Rank lacking_count_ = 0;            ///< how many of them had no memory for the call of this number
  std::uint64_t lacking_number_ = 0;  ///< 0: none
  Rank culprit_ = kNoRank;
  ErrorCode code_ = ErrorCode::mismatch;
  std::uint64_t made_ = 0;
  std::uint64_t broken_at_ = 0;
  std::uint64_t forgotten_told_ =
      0;  ///< the last number of which this member has told that it has forgotten its call
  std::optional<CallNews> news_;
  std::string why_;
};

}  // namespace aqueduct::coll
