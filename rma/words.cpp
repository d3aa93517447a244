#include "rma/transfers.hpp"

#include <cstring>

// A put or get of exactly one aligned word is whole (docs/memory-model.md, M-1 to M-3). If the conduit's own operations
// do not promise that, the word takes one of two other ways: an atomic of the network, if the network does all atomics
// of the job, or the reference layer, whose target stores and loads a word once.

namespace aqueduct::rma {

core::WholeWords Transfers::whole_words(const core::Conduit& conduit) const noexcept {
  return &conduit == state_.far.get() ? state_.network_words : conduit.properties().whole_words;
}

// Not with smp in the job: processors do its atomics then, and the owner's serves words as well.
bool Transfers::network_does(AtomicOp op, std::size_t bytes) const noexcept {
  if (state_.atomics_by_processor || bytes < sizeof(std::uint32_t)) return false;
  core::AtomicSet wanted;
  wanted.add(op, bytes == sizeof(std::uint32_t) ? AtomicType::u32 : AtomicType::u64);
  return state_.network_atomics.holds(wanted);
}

namespace {

AtomicCall call_of(AtomicOp op, std::size_t bytes) noexcept {
  AtomicCall call{};
  call.op = op;
  call.type = bytes == sizeof(std::uint32_t) ? AtomicType::u32 : AtomicType::u64;
  call.by = aqueduct::detail::AtomicBy::network;
  return call;
}

}  // namespace

// The word is read here and now, so the source is free when this returns: an Event of the source, which is done
// already, stays as it is.
Transfers::Begun Transfers::store_word(GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                                       Completion completion, const PutOptions& options,
                                       Op* part_of) noexcept {
  AtomicCall call = call_of(AtomicOp::store, bytes);
  std::memcpy(&call.operand, from, bytes);  // the low bytes: all machines here are little-endian
  return atomic(to, call, completion, {options.immediate, options.notify, options.group}, part_of);
}

Transfers::Begun Transfers::load_word(void* to, GlobalPtr<std::byte> from, std::size_t bytes,
                                      Completion completion, bool immediate, Group* group,
                                      Op* part_of) noexcept {
  AtomicCall call = call_of(AtomicOp::load, bytes);
  call.result = to;
  return atomic(from, call, completion, {immediate, false, group}, part_of);
}

}  // namespace aqueduct::rma
