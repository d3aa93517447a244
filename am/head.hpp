#pragma once

#include "am/wire.hpp"

#include <cstring>

namespace aqueduct::am {

/// The part of a packet before the payload: header, target, arguments. It is written in
/// words of 8 bytes and copied in such words right afterwards. A load that spans two
/// smaller stores would have to wait until both have left the processor's store buffer.
class Head {
 public:
  explicit Head(const PacketHeader& header) noexcept { append(&header, sizeof header); }

  void append(const void* data, std::size_t bytes) noexcept {
    const auto* from = static_cast<const std::byte*>(data);
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t), from += sizeof(std::uint64_t)) {
      words_[count_++] = read<std::uint64_t>(from);
    }
    if (bytes != 0) words_[count_++] = read_tail(from, bytes);
  }
  core::Bytes bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(words_), count_ * sizeof(std::uint64_t)};
  }

 private:
  template <class T>
  static T read(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static std::uint64_t read_tail(const std::byte* from, std::size_t bytes) noexcept {
    std::uint64_t word = 0;
    unsigned shift = 0;
    if ((bytes & 4) != 0) {
      word = read<std::uint32_t>(from);
      from += 4;
      shift = 32;
    }
    if ((bytes & 2) != 0) {
      word |= std::uint64_t{read<std::uint16_t>(from)} << shift;
      from += 2;
      shift += 16;
    }
    if ((bytes & 1) != 0) word |= std::uint64_t{read<std::uint8_t>(from)} << shift;
    return word;
  }

  std::uint64_t words_[kMaxHead / sizeof(std::uint64_t)];
  std::size_t count_ = 0;
};
static_assert(kMaxHead % sizeof(std::uint64_t) == 0);

}  // namespace aqueduct::am
