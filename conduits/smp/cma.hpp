#pragma once

#include "conduits/smp/smp_map.hpp"
#include "core/conduit.hpp"

#include <vector>

namespace aqueduct::conduits::smp {

/// The system's cross-memory calls: for segments that cannot be mapped, because they are somebody's own memory.
///
/// Containers often forbid them; that is found out at the first use of a peer, and packets serve then.
class Cma final : public core::NativeRma {
 public:
  Cma(SmpNetwork& network, Attachments& attachments);

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override { attachments_.detached(id); }
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;

 private:
  struct Remote {
    int pid;
    std::uint64_t address;
  };
  SmpNetwork& network_;
  Attachments& attachments_;
  bool wanted_;
  bool said_ = false;            ///< that it is forbidden
  std::vector<Remote> remotes_;  // by key - 1
};

}  // namespace aqueduct::conduits::smp
