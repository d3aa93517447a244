#pragma once

#include "conduits/loop/bag.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::conduits::loop {

class LoopNetwork;

// Chosen: few, so that tests meet them, and not the same, so that tests notice which is meant.
inline constexpr std::size_t kMostLocalPieces = 4;
inline constexpr std::size_t kMostRemotePieces = 3;

/// One native operation that was posted.
struct Transfer {
  enum class Kind : std::uint8_t { put, get, put_signal, atomic, put_pieces, get_pieces };
  Kind kind = Kind::put;
  Rank peer = kNoRank;
  SegmentId segment = 0;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  core::Token token = 0;
  const std::byte* from = nullptr;  // put, put_signal
  std::byte* to = nullptr;          // get
  Signal signal{};                  // put_signal
  detail::AtomicCall call{};        // atomic
  // put_pieces, get_pieces: so many of each list count
  std::size_t remote_pieces = 0;
  std::size_t local_pieces = 0;
  std::array<core::RemotePiece, kMostRemotePieces> remote{};
  std::array<core::MutableBytes, kMostLocalPieces> local{};
};

/// What one rank has posted and not been told the end of.
///
/// Threads: those of its rank's endpoint.
class Transfers {
 public:
  Transfers(LoopNetwork& network, Rank me);

  /// False if there is no room.
  bool add(const Transfer& transfer) noexcept;
  /// Carries out what was there at the call (with a seed, some of it) and delivers the completions.
  int carry_out(core::Inbox& inbox) noexcept;
  /// Does it now, but for the signal. Errors: peer_lost, out_of_range.
  ErrorCode move_bytes(const Transfer& transfer) noexcept;

 private:
  ErrorCode move_pieces(const Transfer& transfer) noexcept;

  LoopNetwork& network_;
  Rank me_;
  Bag<Transfer> posted_;
  std::optional<Dice> dice_;  // set: how many to carry out is chance, too
};

}  // namespace aqueduct::conduits::loop
