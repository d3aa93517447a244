#include "conduits/loop/transfers.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "conduits/loop/loop_network.hpp"
#include "core/apply_atomic.hpp"
#include "core/pieces.hpp"
#include "core/word_signal.hpp"

#include <atomic>
#include <cstring>

namespace aqueduct::conduits::loop {
namespace {

/// Stores a word with release: its owner may wait for it by acquire loads, and then reads what was put before.
template <class Word>
void release_word(std::byte* place, const std::byte* value) noexcept {
  Word word;
  std::memcpy(&word, value, sizeof word);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(place)).store(word, std::memory_order_release);
}

// Like a network card: atomic with respect to the other atomics of the network, because of the segment's mutex, but not
// with respect to instructions of a processor.
void apply(std::byte* place, const detail::AtomicCall& call) noexcept {
  const std::size_t bytes = core::bytes_of(call.type);
  alignas(8) std::byte value[8];
  detail::copy_bytes(value, place, bytes);
  const std::uint64_t old = core::apply_atomic(call.op, call.type, call.operand, call.expected, value);
  if (call.op != AtomicOp::load) {
    if (bytes == sizeof(std::uint64_t)) {
      release_word<std::uint64_t>(place, value);
    } else {
      release_word<std::uint32_t>(place, value);
    }
  }
  if (call.result != nullptr) std::memcpy(call.result, &old, bytes);
}

}  // namespace

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
  // A completion may post more operations; these wait for the next poll.
  const std::size_t count = dice_ ? 1 + dice_->below(posted_.size()) : posted_.size();
  int calls = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Transfer transfer = posted_.draw();
    ErrorCode why = move_bytes(transfer);
    if (why == ErrorCode::ok && transfer.kind == Transfer::Kind::put_signal) {
      const core::Post post = network_.mailbox(transfer.peer).post(me_, transfer.signal);
      if (post.kind == core::Post::Kind::retry) break;  // puts the bytes again later, which nobody notices
      why = post.why;
    }
    if (why == ErrorCode::ok && transfer.kind == Transfer::Kind::put_word) why = update(transfer);
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
      case Transfer::Kind::put_word: detail::move_bytes(memory.data(), transfer.from, memory.size()); return;
      case Transfer::Kind::get: detail::move_bytes(transfer.to, memory.data(), memory.size()); return;
      case Transfer::Kind::atomic: return apply(memory.data(), transfer.call);
      case Transfer::Kind::update: {
        const detail::AtomicCall& call = transfer.call;
        core::apply_atomic(call.op, call.type, call.operand, call.expected, memory.data());
        return;
      }
      case Transfer::Kind::put_pieces:
      case Transfer::Kind::get_pieces: return;
    }
  };
  if (transfer.remote_pieces != 0) return move_pieces(transfer);
  return network_.memory(transfer.peer).with(transfer.segment, transfer.offset, transfer.bytes, move);
}

ErrorCode Transfers::update(const Transfer& transfer) noexcept {
  const core::RemoteWord& word = transfer.word;
  auto result = ErrorCode::ok;
  const auto why = network_.memory(transfer.peer)
                       .with(static_cast<SegmentId>(word.key), word.offset, sizeof(std::uint64_t),
                             [&](core::MutableBytes memory) {
                               result = core::apply_signal(memory, 0, word.op, word.value);
                             });
  return why == ErrorCode::ok ? result : why;
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
