#include <aqueduct/atomic_domain.hpp>

#include "core/apply_atomic.hpp"
#include "core/entry.hpp"
#include "core/refuse.hpp"
#include "core/wait.hpp"
#include "rma/operation.hpp"
#include "rma/transfers.hpp"

#include <cstring>

namespace aqueduct {

namespace rma {

bool Transfers::is_of_network(const AtomicCall& call) const noexcept {
  using detail::AtomicBy;
  return call.by == AtomicBy::network || (call.by == AtomicBy::job && !state_.atomics_by_processor);
}

Transfers::Begun Transfers::atomic(GlobalPtr<std::byte> at, const AtomicCall& call, Completion completion,
                                   const AtomicOptions& options, Op* part_of) noexcept {
  const bool immediate = options.immediate;
  const std::size_t bytes = core::bytes_of(call.type);
  const bool by_network = is_of_network(call);
  if (completion != Completion::blocking && !held(at.rank(), core::PeerOrder::Next::other)) {
    Op* join = nullptr;
    if (completion == Completion::group) {
      join = part_of != nullptr ? part_of : joined(options.group);
      if (join == nullptr) return {ErrorCode::invalid_argument, {}};
    }
    Op* const op = by_network ? atomic_at_once(at, bytes, call, join) : update_at_once(at, bytes, call, join);
    if (op != nullptr) return join != nullptr ? Begun{} : Begun{{}, Event(op)};
  }
  const Access access = this->access(at, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  const bool here = !by_network && access.mapped != nullptr;
  const bool aligned = here ? reinterpret_cast<std::uintptr_t>(access.mapped) % bytes == 0
                            : access.part->aligned(at.offset(), bytes);
  if (!aligned) {
    const Status status = core::refuse_alignment(state_, at, bytes);
    return {status, Event(status)};
  }
  // A fence does not cover atomics that fetch.
  using Next = core::PeerOrder::Next;
  const bool is_held = call.result == nullptr && call.op != AtomicOp::load &&
                       held(at.rank(), here || by_network ? Next::other : Next::packet);
  if (is_held && immediate) {
    const Status status{ErrorCode::refused, at.rank()};
    return {status, Event(status)};
  }
  if (here && !is_held) {
    if (at.rank() == state_.rank) let_others_in();
    const std::uint64_t old =
        core::apply_atomic(call.op, call.type, call.operand, call.expected, access.mapped);
    if (call.result != nullptr) std::memcpy(call.result, &old, bytes);
    if (options.notify) state_.wake_after_stores(at.rank());
    return {};
  }
  auto begun = begin(kAtomicKind, at.rank(), completion, immediate, options.group, part_of);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  Operation& operation = Operation::unset(op);
  operation.segment = at.segment();
  operation.offset = at.offset();
  operation.bytes = bytes;
  operation.atomic = call;
  if (is_held) {
    operation.notify = options.notify;
    hold(op);
    return finish(op, {}, completion, false);
  }
  if (by_network) {
    // The network also does the atomics on this rank's own words and on neighbours', though they are mapped: CPU
    // atomics are not atomic with respect to the NIC's. If the network has not registered the memory, the owner's
    // processor does the atomics of all ranks on it.
    const bool is_far = state_.conduit_of[at.rank()] == state_.far.get();
    if (SegmentPart* const part = is_far ? access.part : access.part->far.get()) {
      const auto has_key = this->has_key(*part, at.rank(), *state_.far);
      if (!has_key) return finish(op, has_key.status(), completion, true);
      if (*has_key) return finish(op, atomic_native(op, *part, at, call, immediate), completion, true);
    }
  }
  op.by_packets = true;
  ++state_.statistics.reference_atomics;
  const Status status = launch(op, immediate);
  return finish(op, status, completion, !status || operation.all_begun());
}

// Called when a program reads its own word. It may do so in a loop until another rank changes the word. That rank's
// atomic is a request, which this rank's processor carries out inside poll. Without progress here the loop might never
// end.
void Transfers::let_others_in() noexcept {
  // Chosen: short compared with a network's round trip, which the other ranks
  // wait for anyway. A round of progress takes half of this time on udp.
  constexpr std::chrono::nanoseconds kBetween{1000};
  if (!state_.own_time && state_.clock.now() - let_in_at_ < kBetween) return;
  core::progress(state_);
  let_in_at_ = state_.clock.now();
}

}  // namespace rma

namespace detail {

AtomicBy atomic_by(Endpoint& ep, std::uint32_t operations, AtomicType type, AtomicFavour favour) noexcept {
  core::Entry entry(ep.state());
  core::AtomicSet wanted;
  for (const AtomicOp op : core::AtomicSet::kOps) {
    if ((operations >> static_cast<unsigned>(op) & 1) != 0) wanted.add(op, type);
  }
  const EndpointState& state = ep.state();
  const bool can = !wanted.empty() && state.network_atomics.holds(wanted);
  return can && favour == AtomicFavour::remote ? AtomicBy::network : AtomicBy::processor;
}

Event atomic_nb_slowly(Endpoint& ep, GlobalPtr<std::byte> at, const AtomicCall& call,
                       const AtomicOptions& options) noexcept {
  EndpointState& state = ep.state();
  core::Entry entry(state);
  return state.transfers->atomic(at, call, rma::Transfers::Completion::event, options).event;
}

Status atomic_nbi_slowly(Endpoint& ep, GlobalPtr<std::byte> at, const AtomicCall& call,
                         const AtomicOptions& options) noexcept {
  EndpointState& state = ep.state();
  core::Entry entry(state);
  return state.transfers->atomic(at, call, rma::Transfers::Completion::group, options).status;
}

}  // namespace detail

}  // namespace aqueduct
