#pragma once

#include "conduits/loop/reordering_queue.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace aqueduct::conduits::loop {

class LoopNetwork;

// Chosen: small, so that tests reach the limits, and different, so that tests notice if the two are confused.
inline constexpr std::size_t kMostLocalPieces = 4;
inline constexpr std::size_t kMostRemotePieces = 3;

/// A posted native operation.
struct Transfer {
  enum class Kind : std::uint8_t { put, get, put_signal, put_word, atomic, update, put_pieces, get_pieces };
  Kind kind = Kind::put;
  Rank peer = kNoRank;
  SegmentId segment = 0;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  core::Token token = 0;
  const std::byte* from = nullptr;  // put, put_signal, put_word
  std::byte* to = nullptr;          // get
  Signal signal{};                  // put_signal
  core::RemoteWord word{};          // put_word; its key is the number of the segment
  detail::AtomicCall call{};        // atomic, update
  // put_pieces, get_pieces: the lengths of the two lists, and the lists
  std::size_t remote_pieces = 0;
  std::size_t local_pieces = 0;
  std::array<core::RemotePiece, kMostRemotePieces> remote{};
  std::array<core::MutableBytes, kMostLocalPieces> local{};
};

/// The operations that one rank has posted and that are not complete.
///
/// Threads: that of its rank's endpoint.
class Transfers {
 public:
  Transfers(LoopNetwork& network, Rank me);

  /// Records an operation. False if there is no room.
  bool add(const Transfer& transfer) noexcept;
  /// Carries out the recorded operations (with a seed, some of them) and delivers their completions. Returns their
  /// number.
  int carry_out(core::Inbox& inbox) noexcept;
  /// Carries out an operation now, without its signal. Errors: peer_lost, out_of_range.
  ErrorCode move_bytes(const Transfer& transfer) noexcept;

 private:
  /// Carries out the signal of a put_word.
  ErrorCode update(const Transfer& transfer) noexcept;
  ErrorCode move_pieces(const Transfer& transfer) noexcept;

  LoopNetwork& network_;
  Rank me_;
  ReorderingQueue<Transfer> posted_;
  std::optional<core::Dice> dice_;  // with a seed: decides how many to carry out
};

}  // namespace aqueduct::conduits::loop
