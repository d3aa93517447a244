#include "vis/describe.hpp"

#include "vis/varint.hpp"

#include <algorithm>

namespace aqueduct::vis {
namespace {

/// How many bytes of data may follow a description of that length.
std::uint64_t data_room(const PacketRoom& room, std::size_t description) noexcept {
  const std::size_t padded = am::padded(description);
  const std::uint64_t most = padded < room.together ? std::min(room.data, room.together - padded) : 0;
  return most - most % room.unit;
}

// Every packet of a strided transfer carries the whole shape, some ten bytes, and how much of it earlier packets took.
Description by_strides(const Shape& shape, std::uint64_t total, Cursor& there, const PacketRoom& room,
                       std::byte* to) noexcept {
  std::byte* at = write_varint(to, shape.bytes);
  at = write_varint(at, shape.dimensions);
  for (std::uint32_t i = 0; i < shape.dimensions; ++i) {
    at = write_varint(at, shape.dims[i].count);
    at = write_varint(at, zigzag(shape.dims[i].stride));
  }
  at = write_varint(at, total - there.remaining());
  Description made{DescriptionKind::strided, static_cast<std::uint32_t>(at - to), 0};
  made.data = std::min(there.remaining(), data_room(room, made.bytes));
  there.skip(made.data);
  return made;
}

// The length once, then for each piece its distance from the end of the previous one: one or two bytes if they are
// near.
Description by_offsets(const Shape& shape, std::uint64_t total, Cursor& there, const PacketRoom& room,
                       std::byte* to) noexcept {
  const std::uint64_t behind = total - there.remaining();
  const std::uint64_t within = behind % shape.bytes;
  const std::uint64_t index = behind / shape.bytes;
  const auto* offsets = static_cast<const std::int64_t*>(shape.list) + index;
  const std::uint64_t count = shape.count - index;
  std::byte* at = write_varint(to, shape.bytes);
  at = write_varint(at, within);
  Description made{DescriptionKind::indexed, 0, 0};
  std::uint64_t end = 0;
  const std::uint64_t piece = shape.bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::size_t>(at - to);
    if (size + kMostVarint > room.description) break;
    const std::uint64_t most = data_room(room, size + kMostVarint);
    const std::uint64_t now =
        std::min(i == 0 ? piece - within : piece, most > made.data ? most - made.data : 0);
    if (now == 0) break;
    const auto offset = static_cast<std::uint64_t>(offsets[i]);
    at = write_varint(at, zigzag(static_cast<std::int64_t>(offset - end)));
    end = offset + piece;
    made.data += now;
    if (now != (i == 0 ? piece - within : piece)) break;
  }
  made.bytes = static_cast<std::uint32_t>(at - to);
  there.skip(made.data);
  return made;
}

// Distance and length of each run. Also for strided shapes whose strided description might not fit half of a packet.
Description by_pieces(const Shape& shape, Cursor& there, const PacketRoom& room, std::byte* to) noexcept {
  Description made{DescriptionKind::vector, 0, 0};
  std::byte* at = to;
  std::uint64_t end = 0;
  while (there.remaining() != 0) {
    const auto size = static_cast<std::size_t>(at - to);
    if (size + 2 * kMostVarint > room.description) break;
    const std::uint64_t most = data_room(room, size + 2 * kMostVarint);
    std::uint64_t left = most > made.data ? most - made.data : 0;
    if (left == 0) break;
    const Piece first = there.run();
    const std::uint64_t offset = static_cast<std::uint64_t>(first.offset) - shape.base;
    std::uint64_t bytes = 0;
    for (Piece run = first; left != 0;) {
      const std::uint64_t now = std::min<std::uint64_t>(run.bytes, left);
      there.step(now);
      bytes += now;
      left -= now;
      if (now != run.bytes || there.remaining() == 0) break;
      run = there.run();
      if (static_cast<std::uint64_t>(run.offset) - shape.base != offset + bytes) break;
    }
    at = write_varint(at, zigzag(static_cast<std::int64_t>(offset - end)));
    at = write_varint(at, bytes);
    end = offset + bytes;
    made.data += bytes;
  }
  made.bytes = static_cast<std::uint32_t>(at - to);
  return made;
}

}  // namespace

Description describe_pieces(const Shape& shape, std::uint64_t total, Cursor& there, const PacketRoom& room,
                            std::byte* to) noexcept {
  const std::size_t most = std::min<std::uint64_t>(room.description, room.together / 2);
  if (shape.kind == Shape::Kind::strided && (2 * std::size_t{shape.dimensions} + 3) * kMostVarint <= most)
    return by_strides(shape, total, there, room, to);
  if (shape.kind == Shape::Kind::indexed) return by_offsets(shape, total, there, room, to);
  return by_pieces(shape, there, room, to);
}

}  // namespace aqueduct::vis
