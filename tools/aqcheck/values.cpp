#include "tools/aqcheck/values.hpp"

#include <algorithm>

namespace aqueduct::aqcheck {

namespace {

/// Mixes bits so that sums of different positions differ. Source: splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Value Values::input(Rank position, std::uint64_t offset) {
  const std::uint64_t key = (std::uint64_t{position} << 40) | offset;
  const auto [found, is_new] = inputs_.try_emplace(key, static_cast<Value>(nodes_.size()));
  if (is_new) {
    nodes_.push_back(
        {.offset = offset, .first = position, .last = position, .count = 1, .positions = mixed(position)});
  }
  return found->second;
}

Value Values::combined(Value left, Value right) {
  const std::uint64_t key = (std::uint64_t{left} << 32) | right;
  const auto [found, is_new] = sums_.try_emplace(key, static_cast<Value>(nodes_.size()));
  if (is_new) {
    const Node a = nodes_[left];
    const Node b = nodes_[right];
    nodes_.push_back({.offset = a.offset,
                      .first = std::min(a.first, b.first),
                      .last = std::max(a.last, b.last),
                      .count = a.count + b.count,
                      .positions = a.positions + b.positions,
                      .in_order = a.in_order && b.in_order && a.last + 1 == b.first,
                      .same_offset = a.same_offset && b.same_offset && a.offset == b.offset});
  }
  return found->second;
}

bool Values::is_sum(Value value, Rank count, std::uint64_t offset, bool any_order) const {
  const Node& node = nodes_[value];
  if (value == kUnwritten || node.count != count || !node.same_offset || node.offset != offset) return false;
  if (node.in_order) return node.first == 0 && node.last + 1 == count;
  std::uint64_t all = 0;
  for (Rank i = 0; i < count; ++i) all += mixed(i);
  return any_order && node.positions == all;
}

Value Values::left_to_right(Rank count, std::uint64_t offset) {
  Value value = input(0, offset);
  for (Rank i = 1; i < count; ++i) value = combined(value, input(i, offset));
  return value;
}

}  // namespace aqueduct::aqcheck
