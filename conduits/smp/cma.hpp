#pragma once

#include "conduits/smp/smp_map.hpp"
#include "core/conduit.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::smp {

/// The system's cross-memory calls: for segments that cannot be mapped, because they are somebody's own memory.
///
/// Containers often forbid them; that is found out at the first use of a peer, and packets serve then.
///
/// They name a process by its number, which the system gives to another one when a peer has died. So a word of the peer's
/// memory that no other process has there is read first, unless that was done a moment ago.
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

  /// What a peer is told of a segment.
  struct Key {
    std::int64_t pid;
    std::uint64_t address;
    std::uint64_t mark_at;  ///< where this process has its mark,
    std::uint64_t mark;     ///< which no other process has
  };
  /// For so long a process is taken for the one that it was. Chosen: far less than it takes to start as many processes as
  /// there are numbers, the least number of which is 301 and the usual one 32768.
  static constexpr std::chrono::microseconds kTrust{500};

 private:
  using Clock = std::chrono::steady_clock;
  struct Remote {
    Key key;
    Clock::time_point seen;  ///< when it was last looked at
  };
  Status look_at(Remote& remote) noexcept;
  template <class Move>
  core::Post checked(Rank peer, std::uint64_t key, const Move& move) noexcept;

  SmpNetwork& network_;
  Attachments& attachments_;
  bool wanted_;
  bool said_ = false;            ///< that it is forbidden
  std::vector<Remote> remotes_;  // by key - 1
};

}  // namespace aqueduct::conduits::smp
