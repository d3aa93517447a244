#pragma once

#include "vis/cursor.hpp"
#include "vis/wire.hpp"

#include <array>

namespace aqueduct::vis {

/// Reads the description in a packet of a packed transfer. The packet is not trusted: all pieces that the decoder
/// returns lie in [0, limit). At the first one that does not, it stops, and good() becomes false.
class Decoder {
 public:
  Decoder(DescriptionKind form, core::Bytes description, std::uint64_t base, std::uint64_t limit,
          std::uint64_t data_bytes) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Gets the next row of pieces; places are offsets in the segment. The row is valid until the next call. False: there
  /// is none.
  bool next(Row& row) noexcept;
  /// Whether the description was valid so far. After the last row: also whether it covered all of the data.
  bool good() const noexcept { return good_; }

 private:
  bool fail() noexcept;
  void begin_strided() noexcept;
  bool next_strided(Row& row) noexcept;
  bool next_indexed(Row& row) noexcept;
  bool next_vector(Row& row) noexcept;
  bool inside(std::uint64_t at, std::uint64_t bytes) const noexcept {
    return at <= limit_ && bytes <= limit_ - at;
  }

  static constexpr std::size_t kBatch = 128;  // chosen: 1 KiB of offsets

  DescriptionKind form_;
  bool good_ = true;
  core::Bytes rest_;
  std::uint64_t base_;
  std::uint64_t limit_;
  std::uint64_t left_;        ///< bytes of data without pieces so far
  std::uint64_t end_ = 0;     ///< offset of the end of the previous piece
  std::uint64_t piece_ = 0;   ///< indexed: the length of each piece
  std::uint64_t within_ = 0;  ///< indexed: bytes of the first piece that are skipped
  Shape shape_;
  Cursor cursor_;
  std::array<std::int64_t, kBatch> offsets_;
};

}  // namespace aqueduct::vis
