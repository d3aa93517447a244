#include "conduits/loop/transfers.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "conduits/loop/loop_network.hpp"
#include "core/pieces.hpp"

#include <atomic>
#include <cstring>

namespace aqueduct::conduits::loop {
namespace {

// As a card does it: atomic to the other atomics of the network, for which the segment's mutex sees, and to nothing that a
// processor does meanwhile.
template <Atomic T>
void apply_to(std::byte* place, const detail::AtomicCall& call) noexcept {
  T operand;
  T expected;
  std::memcpy(&operand, &call.operand, sizeof(T));
  std::memcpy(&expected, &call.expected, sizeof(T));
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(place));
  T value = cell.load();
  const T old = detail::apply<T>(call.op, value, operand, expected);
  if (call.op != AtomicOp::load) cell.store(value);
  if (call.result != nullptr) std::memcpy(call.result, &old, sizeof(T));
}

void apply(std::byte* place, const detail::AtomicCall& call) noexcept {
  switch (call.type) {
    case AtomicType::i32: return apply_to<std::int32_t>(place, call);
    case AtomicType::u32: return apply_to<std::uint32_t>(place, call);
    case AtomicType::i64: return apply_to<std::int64_t>(place, call);
    case AtomicType::u64: return apply_to<std::uint64_t>(place, call);
    case AtomicType::f32: return apply_to<float>(place, call);
    case AtomicType::f64: return apply_to<double>(place, call);
  }
}

}  // namespace

std::size_t bytes_of(AtomicType type) noexcept {
  return type == AtomicType::i32 || type == AtomicType::u32 || type == AtomicType::f32 ? 4 : 8;
}

Transfers::Transfers(LoopNetwork& network, Rank me)
    : network_(network),
      me_(me),
      posted_(network.options().queue, network.options().seed, ~std::uint64_t{me}) {
  if (const auto seed = network.options().seed; seed != 0) dice_.emplace(seed, ~std::uint64_t{me} << 32);
}

bool Transfers::add(const Transfer& transfer) noexcept {
  if (posted_.full()) return false;
  posted_.add() = transfer;
  return true;
}

int Transfers::carry_out(core::Inbox& inbox) noexcept {
  if (posted_.empty()) return 0;
  // A completion may post more; that is for the next poll.
  const std::size_t count = dice_ ? 1 + dice_->below(posted_.size()) : posted_.size();
  int calls = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Transfer transfer = posted_.draw();
    ErrorCode why = move_bytes(transfer);
    if (why == ErrorCode::ok && transfer.kind == Transfer::Kind::put_signal) {
      const core::Post post = network_.mailbox(transfer.peer).post(me_, transfer.signal);
      if (post.kind == core::Post::Kind::retry) break;  // its bytes may be put again: nobody was told of them
      why = post.why;
    }
    posted_.drop();
    inbox.completed(transfer.token, why == ErrorCode::ok ? Status{} : Status{why, transfer.peer});
    ++calls;
  }
  return calls;
}

ErrorCode Transfers::move_bytes(const Transfer& transfer) noexcept {
  const auto move = [&transfer](core::MutableBytes memory) {
    if (memory.empty()) return;
    switch (transfer.kind) {
      case Transfer::Kind::put:
      case Transfer::Kind::put_signal:
        detail::move_bytes(memory.data(), transfer.from, memory.size());
        return;
      case Transfer::Kind::get: detail::move_bytes(transfer.to, memory.data(), memory.size()); return;
      case Transfer::Kind::atomic: return apply(memory.data(), transfer.call);
      case Transfer::Kind::put_pieces:
      case Transfer::Kind::get_pieces: return;
    }
  };
  if (transfer.remote_pieces != 0) return move_pieces(transfer);
  return network_.memory(transfer.peer).with(transfer.segment, transfer.offset, transfer.bytes, move);
}

ErrorCode Transfers::move_pieces(const Transfer& transfer) noexcept {
  ErrorCode why = ErrorCode::ok;
  core::walk_pieces(std::span(transfer.remote).first(transfer.remote_pieces),
                    std::span(transfer.local).first(transfer.local_pieces),
                    [&](std::uint64_t offset, core::MutableBytes part) {
                      if (why != ErrorCode::ok) return;
                      why = network_.memory(transfer.peer)
                                .with(transfer.segment, offset, part.size(), [&](core::MutableBytes memory) {
                                  const bool put = transfer.kind == Transfer::Kind::put_pieces;
                                  detail::move_bytes(put ? memory.data() : part.data(),
                                                     put ? part.data() : memory.data(), part.size());
                                });
                    });
  return why;
}

}  // namespace aqueduct::conduits::loop
