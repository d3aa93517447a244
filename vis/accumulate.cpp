#include "vis/accumulate.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::vis {
namespace {

template <Atomic T>
void add(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  for (std::uint64_t i = 0; i < bytes; i += sizeof(T)) {
    T value;
    std::memcpy(&value, from + i, sizeof(T));
    aqueduct::detail::apply<T>(AtomicOp::add, *reinterpret_cast<T*>(to + i), value, T{});
  }
}

}  // namespace

std::size_t atomic_bytes(AtomicType type) noexcept {
  return type == AtomicType::i32 || type == AtomicType::u32 || type == AtomicType::f32 ? 4 : 8;
}

void add_elements(std::byte* to, const std::byte* from, std::uint64_t bytes, AtomicType type) noexcept {
  switch (type) {
    case AtomicType::i32: return add<std::int32_t>(to, from, bytes);
    case AtomicType::u32: return add<std::uint32_t>(to, from, bytes);
    case AtomicType::i64: return add<std::int64_t>(to, from, bytes);
    case AtomicType::u64: return add<std::uint64_t>(to, from, bytes);
    case AtomicType::f32: return add<float>(to, from, bytes);
    case AtomicType::f64: return add<double>(to, from, bytes);
  }
}

void add_between(Cursor& to, Cursor& from, std::uint64_t bytes, AtomicType type) noexcept {
  while (bytes != 0) {
    const Piece out = to.run();
    const Piece in = from.run();
    const std::uint64_t now = std::min({std::uint64_t{out.bytes}, std::uint64_t{in.bytes}, bytes});
    add_elements(reinterpret_cast<std::byte*>(out.offset), reinterpret_cast<const std::byte*>(in.offset), now,
                 type);
    to.step(now);
    from.step(now);
    bytes -= now;
  }
}

}  // namespace aqueduct::vis
