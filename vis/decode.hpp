#pragma once

#include "vis/cursor.hpp"
#include "vis/wire.hpp"

#include <array>

namespace aqueduct::vis {

/// Reads the description in a packet of a packed transfer, which anybody may have written: what it gives lies in
/// [0, limit), or it gives nothing more and is not good.
class Decoder {
 public:
  Decoder(Form form, core::Bytes description, std::uint64_t base, std::uint64_t limit,
          std::uint64_t data_bytes) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// The next row of pieces, by offset in the segment; valid until the next call. False: there is none.
  bool next(Row& row) noexcept;
  /// Whether the pieces so far were as they should be. After the last: whether they were for all of the data.
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

  Form form_;
  bool good_ = true;
  core::Bytes rest_;
  std::uint64_t base_;
  std::uint64_t limit_;
  std::uint64_t left_;  ///< of the data
  std::uint64_t end_ = 0;
  std::uint64_t piece_ = 0;   ///< indexed
  std::uint64_t within_ = 0;  ///< indexed: of the first piece
  Shape shape_;
  Cursor cursor_;
  std::array<std::int64_t, kBatch> offsets_;
};

}  // namespace aqueduct::vis
