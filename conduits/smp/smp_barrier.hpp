#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"

namespace aqueduct::conduits::smp {

class SmpNetwork;

/// The barrier of all ranks of a host, by words in the arena. One team at a time has them.
///
/// Each rank notes alone whether the words are taken. The notes agree where all ranks make and end the teams of these
/// ranks in the same order, and where what fails fails on all. Both have exceptions: memory that runs out, or a loss
/// that is known late, may end a call on one rank only. So a rank whose note says *free* may be in a team with one whose
/// note says *taken*. The words of a team are safe all the same: they are given back only when all members have ended
/// the team. What the members must agree on is whether to use them (Barriers::choose_native in coll).
class Barriers final : public core::NativeCollectives {
 public:
  Barriers(SmpNetwork& network, Rank me) noexcept : network_(network), me_(me) {}
  void connect(Arena& arena) noexcept { arena_ = &arena; }
  std::unique_ptr<core::NativeBarrier> make_barrier(std::span<const Rank> members) override;

 private:
  SmpNetwork& network_;
  Rank me_;
  Arena* arena_ = nullptr;
  bool claimed_ = false;  ///< a team has the words, on this rank
};

}  // namespace aqueduct::conduits::smp
