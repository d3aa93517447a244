#pragma once

#include "vis/cursor.hpp"
#include "vis/wire.hpp"

namespace aqueduct::vis {

/// One packet's description of the remote pieces to which its data belongs.
struct Description {
  DescriptionKind form = DescriptionKind::vector;
  std::uint32_t bytes = 0;  ///< length of the description
  std::uint64_t data = 0;   ///< bytes of data that it describes
};

/// The limits of a packet, in bytes.
struct PacketRoom {
  std::size_t description = 0;
  std::uint64_t data = 0;
  std::uint64_t together = 0;  ///< limit of the description, padded to 8 bytes, plus the data
  std::uint64_t unit = 1;      ///< the data of a packet is a multiple of this
};

/// Describes the next pieces of `there`, as many as one packet holds, and advances `there` past them.
///
/// Shape:    a strided shape is described as a whole, with the number of bytes to step over, if that is short; any
///           other shape piece by piece. Pieces of a vector that follow each other in memory are merged.
/// Requires: `there` is a cursor over `shape` with bytes left; the room is enough for one piece (64 bytes).
Description describe_pieces(const Shape& shape, std::uint64_t total, Cursor& there, const PacketRoom& room,
                            std::byte* to) noexcept;

}  // namespace aqueduct::vis
