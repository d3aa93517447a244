#pragma once

#include <aqueduct/status.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace aqueduct::coll {

using Blob = std::vector<std::byte>;

/// The bytes of one set-up message, whose pieces arrive in any order.
///
/// Memory grows with the bytes that have arrived, never with
/// the announced length: a faulty peer may announce any length.
class PieceStream {
 public:
  /// Adds a piece. False: it is inconsistent, in itself or with earlier pieces. May throw std::bad_alloc.
  bool add(std::uint64_t at, std::uint64_t total, std::span<const std::byte> piece);
  /// Whether all bytes are here.
  bool whole() const noexcept { return total_ != 0 && arrived_ == total_; }
  /// All bytes in order. Requires: whole().
  Blob take();

 private:
  std::uint64_t total_ = 0;  ///< 0: nothing has arrived
  std::uint64_t arrived_ = 0;
  std::map<std::uint64_t, Blob> pieces_;  ///< by position; they do not overlap
};

}  // namespace aqueduct::coll
