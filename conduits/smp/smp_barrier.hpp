#pragma once

#include "conduits/smp/arena.hpp"
#include "core/conduit.hpp"

namespace aqueduct::conduits::smp {

class SmpNetwork;

/// The barrier of all ranks of a host, by words in the arena.
class Barriers final : public core::NativeCollectives {
 public:
  Barriers(SmpNetwork& network, Rank me) noexcept : network_(network), me_(me) {}
  void connect(Arena& arena) noexcept { arena_ = &arena; }
  std::unique_ptr<core::NativeBarrier> make_barrier(std::span<const Rank> members) override;

 private:
  SmpNetwork& network_;
  Rank me_;
  Arena* arena_ = nullptr;
  bool claimed_ = false;  ///< a team of all these ranks has it: the same team on every rank
};

}  // namespace aqueduct::conduits::smp
