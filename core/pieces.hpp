#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::core {

/// The limits of one call of a conduit's NativeVector.
struct PieceLimits {
  std::size_t most_remote = 0;
  std::size_t most_local = 0;
  std::size_t max_transfer = 0;  ///< bytes in all
};

/// Checks two lists of pieces, for conduits. `Local` is Bytes or MutableBytes.
///
/// Errors: too_large (beyond a limit), invalid_argument (a piece
///         is empty, or the lists differ in their total of bytes).
template <class Local>
ErrorCode check_pieces(std::span<const RemotePiece> remote, std::span<const Local> local,
                       const PieceLimits& limits) noexcept {
  if (remote.size() > limits.most_remote || local.size() > limits.most_local) return ErrorCode::too_large;
  std::size_t left_remote = limits.max_transfer;
  for (const RemotePiece& piece : remote) {
    if (piece.bytes == 0) return ErrorCode::invalid_argument;
    if (piece.bytes > left_remote) return ErrorCode::too_large;
    left_remote -= piece.bytes;
  }
  std::size_t left_local = limits.max_transfer;
  for (const Local& piece : local) {
    if (piece.empty()) return ErrorCode::invalid_argument;
    if (piece.size() > left_local) return ErrorCode::too_large;
    left_local -= piece.size();
  }
  return left_remote == left_local && !remote.empty() ? ErrorCode::ok : ErrorCode::invalid_argument;
}

/// Calls `use(offset, part)` for each range that lies within one piece of both lists, in order.
///
/// Requires: check_pieces has found no error.
template <class Local, class Use>
void walk_pieces(std::span<const RemotePiece> remote, std::span<const Local> local, const Use& use) {
  std::size_t at = 0;  // bytes of local.front() that are done
  for (const RemotePiece& piece : remote) {
    for (std::size_t done = 0; done < piece.bytes;) {
      const Local part = local.front().subspan(at, std::min(piece.bytes - done, local.front().size() - at));
      use(piece.offset + done, part);
      done += part.size();
      at += part.size();
      if (at < local.front().size()) continue;
      local = local.subspan(1);
      at = 0;
    }
  }
}

}  // namespace aqueduct::core
