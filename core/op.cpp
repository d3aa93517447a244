#include "core/op.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

namespace aqueduct {

namespace detail {

Status collect(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  return whole.pool->collect(whole);
}

bool in_child(const OpFace* op) noexcept { return static_cast<const core::Op*>(op)->pool->in_child(); }

void abandon(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  whole.pool->abandon(whole);
}

}  // namespace detail

namespace core {

// Token bits: the generation above, the index below. Generations begin at 1, so that no token is 0, and leave the
// highest bit to the layers.
constexpr std::uint32_t kGenerations = 1u << 31;

OpPool::OpPool(std::uint32_t capacity, const Endpoint* owner)
    : owner_(owner), capacity_(capacity), ops_(std::allocator<Op>{}.allocate(std::size_t{capacity} * 2)) {
  static_assert(std::is_trivially_destructible_v<Op>);
}

OpPool::~OpPool() { std::allocator<Op>{}.deallocate(ops_, std::size_t{capacity_} * 2); }

Op* OpPool::make(bool is_explicit) noexcept {
  std::uint32_t& fresh = is_explicit ? fresh_explicit_ : fresh_internal_;
  if (fresh == capacity_) return nullptr;
  const std::uint32_t index = fresh++ + (is_explicit ? 0 : capacity_);
  Op* const op = new (&ops_[index]) Op;
  op->index = index;
  op->generation = 1;
  op->pool = this;
  return op;
}

void OpPool::part_ended(Op& op, Status status) noexcept {
  if (!status && op.outcome.ok()) op.outcome = status;
  if (--op.parts != 0) return;
  if (op.then != nullptr && op.outcome.ok()) {
    auto* then = std::exchange(op.then, nullptr);
    op.parts = 1;
    then(op.layer, op);
    return;
  }
  complete(op);
}

void OpPool::source_free(Op& op, Status status) noexcept {
  if (Op* source = std::exchange(op.source, nullptr)) part_ended(*source, status);
}

void OpPool::complete(Op& op) noexcept {
  source_free(op, op.outcome);
  if (op.group != nullptr) {
    Op& group = *op.group;
    const Status outcome = op.outcome;
    release(op);
    part_ended(group, outcome);
  } else if (op.abandoned) {
    release(op);
  } else {
    --in_flight_;
    op.done.store(1, std::memory_order_release);
  }
}

Status OpPool::collect(Op& op) noexcept {
  const Status outcome = op.outcome;
  ++in_flight_;  // complete() took it off
  release(op);
  return outcome;
}

void OpPool::abandon(Op& op) noexcept { op.abandoned = true; }

void OpPool::release(Op& op) noexcept {
  --in_flight_;
  if (++op.generation >= kGenerations) op.generation = 1;
  Op*& free = op.is_explicit ? free_explicit_ : free_internal_;
  op.next = free;
  free = &op;
}

Op* OpPool::find(Token token) noexcept {
  const auto index = static_cast<std::uint32_t>(token);
  if (index >= 2 * capacity_) return nullptr;
  Op& op = ops_[index];
  const bool used = index < capacity_ ? index < fresh_explicit_ : index - capacity_ < fresh_internal_;
  if (!used || op.generation != static_cast<std::uint32_t>(token >> 32) || op.parts == 0) return nullptr;
  return &op;
}

void OpPool::fail_packets(Rank peer, Status status) noexcept {
  auto fail = [&](Op& op) {
    if (op.parts == 0 || op.peer != peer || !op.by_packets) return;
    op.outcome = op.outcome.ok() ? status : op.outcome;
    op.then = nullptr;
    op.parts = op.sends + 1;  // what a conduit still reads ends first
    part_ended(op, status);
  };
  for (std::uint32_t i = 0; i < fresh_explicit_; ++i) fail(ops_[i]);
  for (std::uint32_t i = 0; i < fresh_internal_; ++i) fail(ops_[capacity_ + i]);
}

void OpPool::end_all(Status status) noexcept {
  for (std::uint32_t i = 0; i < fresh_explicit_; ++i) {
    Op& op = ops_[i];
    if (op.parts == 0) continue;
    op.parts = 0;
    op.outcome = status;
    op.done.store(1, std::memory_order_release);
  }
}

std::vector<std::pair<Rank, std::uint32_t>> OpPool::busiest() const {
  std::vector<std::pair<Rank, std::uint32_t>> counts;
  auto count = [&](const Op& op) {
    if (op.parts == 0 || op.peer == kNoRank) return;
    auto at = std::find_if(counts.begin(), counts.end(), [&](auto& c) { return c.first == op.peer; });
    if (at == counts.end()) {
      if (counts.size() < 8) counts.emplace_back(op.peer, 1);
    } else {
      ++at->second;
    }
  };
  for (std::uint32_t i = 0; i < fresh_explicit_; ++i) count(ops_[i]);
  for (std::uint32_t i = 0; i < fresh_internal_; ++i) count(ops_[capacity_ + i]);
  return counts;
}

}  // namespace core
}  // namespace aqueduct
