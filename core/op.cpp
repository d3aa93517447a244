#include "core/op.hpp"

#include "core/peer_order.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

#include <sys/mman.h>
#include <sys/resource.h>

namespace aqueduct {

namespace detail {
namespace {

/// As core::Entry, for the calls that know an operation but not its endpoint.
class Locked {
 public:
  explicit Locked(core::Guard* guard) noexcept : guard_(guard) {
    if (guard_ != nullptr) [[unlikely]]
      guard_->enter();
  }
  ~Locked() {
    if (guard_ != nullptr) [[unlikely]]
      guard_->leave();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  core::Guard* guard_;
};

}  // namespace

Status collect(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  const Locked locked(whole.pool->guard());
  return whole.pool->collect(whole);
}

bool in_child(const OpFace* op) noexcept { return static_cast<const core::Op*>(op)->pool->in_child(); }

void abandon(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  const Locked locked(whole.pool->guard());
  whole.pool->abandon(whole);
}

}  // namespace detail

namespace core {

namespace {

// Chosen: each system call makes this many bytes of the reserved addresses usable.
constexpr std::size_t kPoolStep = std::size_t{1} << 20;
constexpr std::size_t kPoolPage = 4096;

constexpr std::size_t in_pool_pages(std::size_t bytes) noexcept {
  return (bytes + kPoolPage - 1) / kPoolPage * kPoolPage;
}

/// Reserves addresses without memory. Null: the system does not give that much address space.
std::byte* reserve_addresses(std::size_t bytes) noexcept {
  void* at = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // Without this the first operation of an idle rank would take a huge page.
  static_cast<void>(::madvise(at, bytes, MADV_NOHUGEPAGE));
  return static_cast<std::byte*>(at);
}

}  // namespace

OpPool::OpPool(std::uint32_t capacity, const Endpoint* owner) : owner_(owner), capacity_(capacity) {
  static_assert(std::is_trivially_destructible_v<Op> && kPoolPage % alignof(Op) == 0);
  internal_.capacity = std::min(capacity, kMostInternal);
  const std::size_t internal_bytes = in_pool_pages(internal_.capacity * sizeof(Op));
  std::byte* at = nullptr;
  // With a limit on address space (`ulimit -v`), the pool takes at most 1/64 of it: segments, stacks and other
  // endpoints need addresses too.
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    while (capacity_ > kMostInternal && capacity_ * sizeof(Op) > limit.rlim_cur / 64) capacity_ /= 2;
  }
  for (;; capacity_ /= 2) {
    reserved_ = in_pool_pages(capacity_ * sizeof(Op)) + internal_bytes;
    at = reserve_addresses(reserved_);
    if (at != nullptr) break;
    if (capacity_ <= 1) throw std::bad_alloc();
  }
  explicit_.capacity = capacity_;
  explicit_.ops = reinterpret_cast<Op*>(at);
  internal_.ops = reinterpret_cast<Op*>(at + reserved_ - internal_bytes);
}

OpPool::~OpPool() { ::munmap(explicit_.ops, reserved_); }

/// Makes the next step of a range's addresses usable. False: the range has no more addresses, or there is no memory.
bool OpPool::extend(Range& range) noexcept {
  const std::size_t all = in_pool_pages(range.capacity * sizeof(Op));
  const std::size_t now = std::min(all, in_pool_pages(range.usable * sizeof(Op)));
  const std::size_t next = std::min(all, (now / kPoolStep + 1) * kPoolStep);
  if (next == now) return false;
  auto* const first = reinterpret_cast<std::byte*>(range.ops);
  if (::mprotect(first + now, next - now, PROT_READ | PROT_WRITE) != 0) return false;
  range.usable = std::min<std::uint32_t>(range.capacity, static_cast<std::uint32_t>(next / sizeof(Op)));
  return true;
}

Op* OpPool::make(bool is_explicit) noexcept {
  if (is_explicit && take_returned()) return free_explicit_;
  Range& range = is_explicit ? explicit_ : internal_;
  if (range.fresh == range.capacity) return nullptr;
  if (range.fresh == range.usable && !extend(range)) return nullptr;
  Op* const op = new (&range.ops[range.fresh]) Op;
  op->index = range.fresh++ + (is_explicit ? 0 : capacity_);
  op->generation = 1;
  op->is_explicit = is_explicit;
  op->pool = this;
  return op;
}

void OpPool::part_ended(Op& op, Status status) noexcept {
  if (!status && op.outcome.ok()) op.outcome = status;
  if (--op.parts != 0) return;
  if (Op::Ended const ended = std::exchange(op.ended, nullptr)) {
    op.parts = 1;
    if (!ended(*op.layer, op)) return;
    op.parts = 0;
  }
  complete(op);
}

void OpPool::source_free(Op& op, Status status) noexcept {
  if (Op* source = std::exchange(op.source, nullptr)) part_ended(*source, status);
}

void OpPool::complete(Op& op) noexcept {
  if (op.epoch != 0) [[unlikely]]
    uncount(op);
  source_free(op, op.outcome);
  if (op.group != nullptr) {
    Op& group = *op.group;
    const Status outcome = op.outcome;
    release(op);
    part_ended(group, outcome);
  } else if (op.abandoned) {
    if (op.holders.load(std::memory_order_relaxed) == 0) {
      release(op);
      return;
    }
    --in_flight_;
    op.done.store(1, std::memory_order_release);
    drop_holder(op);
  } else {
    --in_flight_;
    op.done.store(1, std::memory_order_release);
  }
}

Status OpPool::collect(Op& op) noexcept {
  const Status outcome = op.outcome;
  ++in_flight_;  // complete() has counted this operation out, and release() does so again
  release(op);
  return outcome;
}

void OpPool::abandon(Op& op) noexcept {
  if (op.done.load(std::memory_order_relaxed) != 0) {  // another thread's poll has just ended it
    static_cast<void>(collect(op));
  } else {
    op.abandoned = true;
  }
}

void OpPool::share(Op& op) noexcept {
  op.abandoned = true;
  op.holders.store(op.done.load(std::memory_order_relaxed) == 0 ? 2 : 1, std::memory_order_relaxed);
}

// Acquire and release: all uses of the record by other holders come before its next use.
void OpPool::drop_holder(Op& op) noexcept {
  if (op.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Op* first = returned_.load(std::memory_order_relaxed);
  do {
    op.next = first;
  } while (
      !returned_.compare_exchange_weak(first, &op, std::memory_order_release, std::memory_order_relaxed));
}

// Takes all of them at once, so no other thread can bring a record back that this one has just read.
bool OpPool::take_returned() noexcept {
  Op* op = returned_.load(std::memory_order_relaxed) == nullptr
               ? nullptr
               : returned_.exchange(nullptr, std::memory_order_acquire);
  const bool any = op != nullptr;
  while (op != nullptr) static_cast<void>(collect(*std::exchange(op, op->next)));
  return any;
}

void OpPool::move_members(const Op& from_group, Op& to_group) noexcept {
  const auto move = [&](Op& op) {
    if (op.parts == 0) return;
    if (op.group == &from_group) {
      op.group = &to_group;
      ++to_group.parts;
    }
    if (op.source == &from_group) {
      op.source = &to_group;
      ++to_group.parts;
    }
  };
  for (std::uint32_t i = 0; i < explicit_.fresh; ++i) move(explicit_.ops[i]);
  for (std::uint32_t i = 0; i < internal_.fresh; ++i) move(internal_.ops[i]);
}
void OpPool::count_in(PeerOrder& order) noexcept {
  if (order_ != nullptr) return;
  order_ = &order;
  for (const Range* range : {&explicit_, &internal_}) {
    for (std::uint32_t i = 0; i < range->fresh; ++i) {
      if (range->ops[i].parts != 0) order.begun(range->ops[i]);
    }
  }
}

void OpPool::count(Op& op) noexcept { order_->begun(op); }

void OpPool::uncount(Op& op) noexcept { order_->ended(op); }

/// Makes a record ready for its next use: see begin().
void OpPool::release(Op& op) noexcept {
  --in_flight_;
  op.sends = op.answers = 0;
  op.abandoned = op.by_packets = op.reads_more = false;
  op.outcome = {};
  op.group = op.source = nullptr;
  op.ended = nullptr;
  if (++op.generation >= tokens::kGenerations) op.generation = 1;
  Op*& free = op.is_explicit ? free_explicit_ : free_internal_;
  op.next = free;
  free = &op;
}

Op* OpPool::find(Token token) noexcept {
  const std::uint32_t index = tokens::index(token);
  const Range& range = index < capacity_ ? explicit_ : internal_;
  const std::uint32_t at = index < capacity_ ? index : index - capacity_;
  if (at >= range.fresh) return nullptr;
  Op& op = range.ops[at];
  if (op.generation != tokens::generation(token) || op.parts == 0) return nullptr;
  return &op;
}

void OpPool::fail_packets(Rank peer, Status status) noexcept {
  auto fail = [&](Op& op) {
    if (op.parts == 0 || op.peer != peer || !op.by_packets) return;
    op.outcome = op.outcome.ok() ? status : op.outcome;
    op.answers = 0;
    // Answers will not come. But a conduit may still read payloads, and their completions will come: the operation, and
    // with it the caller's right to reuse the buffer, waits for these.
    op.parts = op.sends + 1;
    part_ended(op, status);
  };
  for (std::uint32_t i = 0; i < explicit_.fresh; ++i) fail(explicit_.ops[i]);
  for (std::uint32_t i = 0; i < internal_.fresh; ++i) fail(internal_.ops[i]);
}

void OpPool::end_all(Status status) noexcept {
  for (std::uint32_t i = 0; i < explicit_.fresh; ++i) {
    Op& op = explicit_.ops[i];
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
  for (std::uint32_t i = 0; i < explicit_.fresh; ++i) count(explicit_.ops[i]);
  for (std::uint32_t i = 0; i < internal_.fresh; ++i) count(internal_.ops[i]);
  return counts;
}

}  // namespace core
}  // namespace aqueduct
