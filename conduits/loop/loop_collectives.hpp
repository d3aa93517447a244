#pragma once

#include "conduits/loop/loop_meeting.hpp"
#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace aqueduct::conduits::loop {

class LoopNativeCollectives;
class LoopNetwork;

/// The most bytes of a buffer. Chosen: short enough that tests also reach the library's own algorithms.
inline constexpr std::uint64_t kMostCollectiveBytes = 8 * 1024;

/// The collective operations of one team, on one member.
class LoopTeam final : public core::NativeTeam {
 public:
  LoopTeam(LoopNativeCollectives& all, std::shared_ptr<Meeting> meeting, std::span<const Rank> members,
           Rank position);
  ~LoopTeam() override;

  const char* refusal(const core::NativeShape& shape) const noexcept override;
  std::uint64_t cost(const core::NativeShape& shape) const noexcept override;
  core::Post start(const core::NativeCall& call, core::Token token) noexcept override;
  void cancel(std::uint64_t from) noexcept override;
  std::vector<Rank> missing(std::uint64_t number) const override;

 private:
  friend class LoopNativeCollectives;
  struct Posted {
    std::uint64_t number;
    core::Token token;
    bool given_up;
  };
  /// An operation that has ended for this member.
  struct Ended {
    core::Token token;
    Status status;
  };

  bool has_ended(const Posted& posted, Status& status) noexcept;
  void collect(std::vector<Ended>& ended) noexcept;

  LoopNativeCollectives& all_;
  const std::shared_ptr<Meeting> meeting_;
  const std::vector<Rank> members_;
  const Rank position_;
  std::vector<Posted> posted_;
};

/// Collective operations that the ranks of a process carry out in its memory: the example of a conduit that has its own, and
/// the tests' stand-in for a network that has. No barriers: those are left to the library.
///
/// As with all that loop offers, a post only records: bytes move in a later poll.
class LoopNativeCollectives final : public core::NativeCollectives {
 public:
  LoopNativeCollectives(LoopNetwork& network, Rank me) : network_(network), me_(me) {}

  std::unique_ptr<core::NativeBarrier> make_barrier(std::span<const Rank>) override { return nullptr; }
  std::uint64_t offer() const noexcept override { return kMostCollectiveBytes; }
  std::unique_ptr<core::NativeTeam> make_team(std::uint64_t id, std::span<const Rank> members) override;

  /// For tests of failures: this rank's operations that are not over end with `why`, now and from now on.
  void break_down(Status why) noexcept { broken_down_ = why; }
  /// For tests of networks that combine by themselves: no program's operators, and no elements of which only the size is known.
  /// On all ranks, before their first call.
  void combine_known_types_only() noexcept { known_types_only_ = true; }

  /// Carries out what all members have started. Returns the number of completions delivered.
  int carry_out(core::Inbox& inbox) noexcept;

 private:
  friend class LoopTeam;

  LoopNetwork& network_;
  const Rank me_;
  std::vector<LoopTeam*> teams_;  ///< those that have posted something
  std::vector<LoopTeam::Ended> ended_;
  Status broken_down_;
  bool known_types_only_ = false;
};

}  // namespace aqueduct::conduits::loop
