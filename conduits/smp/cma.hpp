#pragma once

#include "conduits/smp/smp_map.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/handles.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::smp {

/// Puts and gets by the system's cross-memory calls (process_vm_readv and process_vm_writev), for attached segments,
/// which cannot be mapped, and for what collectives read out of other memory.
///
/// Containers often forbid these calls. This is found at the first use of a peer; packets are used then.
///
/// The calls name a process by its pid, and the system may give the pid of a dead peer to another process. So a
/// transfer first reads the peer's mark, a word that is different in every process, unless it has done so within
/// kTrust.
class Cma final : public core::NativeRma {
 public:
  Cma(SmpNetwork& network, Attachments& attachments);

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override;
  void unregister_segment(SegmentId id) noexcept override { attachments_.detached(id); }
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override;
  void forget_key(Rank, std::uint64_t key) noexcept override { remotes_.remove(key); }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override;
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override;

  /// The key of all memory of this process, see CrossMap::export_process. Empty: the calls are not wanted.
  std::vector<std::byte> key_of_process() const;

  /// The exported key of a segment.
  struct Key {
    std::int64_t pid;
    std::uint64_t address;
    std::uint64_t mark_at;  ///< address of the owner's mark
    std::uint64_t mark;     ///< its value, which no other process has
  };
  /// How long the identity of a process is trusted after a check. Chosen: far less than the time to start as many
  /// processes as there are pids (at least 301, usually 32768), after which the system reuses one. In real time, whatever
  /// the process's clock says: the system starts processes in real time.
  static constexpr std::chrono::microseconds kTrust{500};

 private:
  struct Remote {
    Key key;
    core::Clock::time_point seen;  ///< when the mark was last read
  };
  std::vector<std::byte> key_from(std::uint64_t address) const;
  Status look_at(Remote& remote) noexcept;
  template <class Move>
  core::Post checked(Rank peer, std::uint64_t key, const Move& move) noexcept;

  SmpNetwork& network_;
  Attachments& attachments_;
  bool wanted_;
  bool said_ = false;  ///< has logged that the calls are forbidden
  core::Handles<Remote> remotes_;
};

}  // namespace aqueduct::conduits::smp
