#pragma once

#include "vis/cursor.hpp"
#include "vis/wire.hpp"

namespace aqueduct::vis {

/// What one packet says of the remote pieces that its data is for.
struct Description {
  Form form = Form::vector;
  std::uint32_t bytes = 0;  ///< of the description
  std::uint64_t data = 0;   ///< bytes that it describes
};

/// What limits a packet. `description + data <= together` also holds, with the description padded to 8 bytes.
struct PacketRoom {
  std::size_t description = 0;
  std::uint64_t data = 0;
  std::uint64_t together = 0;
  std::uint64_t unit = 1;  ///< `data` is cut at multiples of this
};

/// Describes as much of what `there` comes to as a packet holds, and moves `there` behind it.
///
/// Shape:    a strided one as it is, with the bytes to step over, where that is short; else piece by piece. Pieces of a
///           vector that follow one another become one.
/// Requires: `there` walks over `shape` and has bytes left; room for a piece (64 bytes).
Description describe_pieces(const Shape& shape, std::uint64_t total, Cursor& there, const PacketRoom& room,
                            std::byte* to) noexcept;

}  // namespace aqueduct::vis
