#pragma once

#include <cstdint>

namespace example {

/// splitmix64: a pseudo-random number that depends on every bit of `value`. So each rank can make any part of a fixed
/// random data set.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace example
