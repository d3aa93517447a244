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

constexpr std::size_t kFirstSums = 64;

}  // namespace

void Values::begin(Rank ranks, std::uint64_t pieces) {
  ranks_ = ranks;
  pieces_ = pieces;
  if (!nodes_.empty() || sums_.empty()) {
    // As large as the last run needed: the next one is like it.
    std::size_t size = kFirstSums;
    while (size < 2 * nodes_.size()) size *= 2;
    sums_.assign(size, {});
  }
  nodes_.clear();
  lefts_.assign(ranks * pieces, kUnwritten);
  if (all_.empty()) all_.push_back(0);
  while (all_.size() <= ranks) all_.push_back(all_.back() + mixed(all_.size() - 1));
}

Values::Node Values::node(Value value) const noexcept {
  const std::uint64_t inputs = ranks_ * pieces_;
  if (value >= kFirstAddress) return {};  // of no position
  if (value > inputs) return nodes_[value - inputs - 1];
  const auto position = static_cast<Rank>((value - 1) / pieces_);
  return {.offset = (value - 1) % pieces_,
          .first = position,
          .last = position,
          .count = 1,
          .positions = mixed(position)};
}

void Values::grow() {
  std::vector<Sum> larger(2 * sums_.size());
  for (const Sum& sum : sums_) {
    if (sum.operands == 0) continue;
    std::size_t at = mixed(sum.operands) & (larger.size() - 1);
    while (larger[at].operands != 0) at = (at + 1) & (larger.size() - 1);
    larger[at] = sum;
  }
  sums_ = std::move(larger);
}

Value Values::combined(Value left, Value right) {
  const std::uint64_t operands = (std::uint64_t{left} << 32) | right;
  if (2 * nodes_.size() >= sums_.size()) grow();
  std::size_t at = mixed(operands) & (sums_.size() - 1);
  for (; sums_[at].operands != 0; at = (at + 1) & (sums_.size() - 1)) {
    if (sums_[at].operands == operands) return sums_[at].value;
  }
  const Node a = node(left);
  const Node b = node(right);
  nodes_.push_back({.offset = a.offset,
                    .first = std::min(a.first, b.first),
                    .last = std::max(a.last, b.last),
                    .count = a.count + b.count,
                    .positions = a.positions + b.positions,
                    .in_order = a.in_order && b.in_order && a.last + 1 == b.first,
                    .same_offset = a.same_offset && b.same_offset && a.offset == b.offset});
  const auto value = static_cast<Value>(ranks_ * pieces_ + nodes_.size());
  sums_[at] = {operands, value};
  return value;
}

bool Values::is_sum(Value value, Rank count, std::uint64_t offset, bool any_order) const {
  if (value == kUnwritten) return false;
  const Node found = node(value);
  if (found.count != count || !found.same_offset || found.offset != offset) return false;
  if (found.in_order) return found.first == 0 && found.last + 1 == count;
  return any_order && found.positions == all_[count];
}

Value Values::left_to_right(Rank count, std::uint64_t offset) {
  Value& known = lefts_[offset * ranks_ + count - 1];
  if (known != kUnwritten) return known;
  Value value = input(0, offset);
  for (Rank i = 1; i < count; ++i) {
    Value& partial = lefts_[offset * ranks_ + i];
    if (partial == kUnwritten) partial = combined(value, input(i, offset));
    value = partial;
  }
  return known = value;
}

}  // namespace aqueduct::aqcheck
