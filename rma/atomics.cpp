#include <aqueduct/atomic_domain.hpp>

#include "rma/transfers.hpp"

namespace aqueduct {

namespace rma {
namespace {

std::size_t bytes_of(AtomicType type) noexcept {
  const bool wide = type == AtomicType::i64 || type == AtomicType::u64 || type == AtomicType::f64;
  return wide ? 8 : 4;
}

bool is_of_network(const EndpointState& state, const AtomicCall& call) noexcept {
  using detail::AtomicBy;
  return call.by == AtomicBy::network || (call.by == AtomicBy::job && !state.atomics_by_processor);
}

}  // namespace

Transfers::Begun Transfers::atomic(GlobalPtr<std::byte> at, const AtomicCall& call, Form form,
                                   bool immediate) noexcept {
  const std::size_t bytes = bytes_of(call.type);
  const bool by_network = is_of_network(state_, call);
  if (by_network && form != Form::blocking) {
    if (Op* const op = atomic_at_once(at, bytes, call, form == Form::group)) {
      return form == Form::group ? Begun{} : Begun{{}, Event(op)};
    }
  }
  const Access access = this->access(at, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  if (!access.part->aligned(at.offset(), bytes)) {
    const Status status{ErrorCode::misaligned, at.rank()};
    return {status, Event(status)};
  }
  auto begun = begin(Op::Kind::atomic, at.rank(), form, immediate);
  if (!begun) return {begun.status(), Event(begun.status())};
  Op& op = **begun;
  op.segment = at.segment();
  op.offset = at.offset();
  op.bytes = bytes;
  op.atomic = call;
  if (by_network) {
    // My own memory and my neighbours' too, though it is mapped: what a processor does, the network's would not wait for.
    // Memory that the network has not registered is the owner's processor's, for everybody.
    const bool is_far = state_.conduit_of[at.rank()] == state_.far.get();
    if (Part* const part = is_far ? access.part : access.part->far.get()) {
      const auto has_key = this->has_key(*part, at.rank(), *state_.far);
      if (!has_key) return finish(op, has_key.status(), form, true);
      if (*has_key) return finish(op, atomic_native(op, *part, at, call, immediate), form, true);
    }
  }
  op.by_packets = true;
  ++state_.statistics.reference_atomics;
  const Status status = launch(op, immediate);
  return finish(op, status, form, !status || op.begun == op.bytes);
}

}  // namespace rma

namespace detail {

AtomicBy atomic_by(Endpoint& ep, std::uint32_t operations, AtomicType type, AtomicFavour favour) noexcept {
  core::AtomicSet wanted;
  for (unsigned op = 0; op <= static_cast<unsigned>(AtomicOp::compare_swap); ++op) {
    if ((operations >> op & 1) != 0) wanted.add(static_cast<AtomicOp>(op), type);
  }
  const EndpointState& state = ep.state();
  const bool can = !wanted.empty() && state.network_atomics.holds(wanted);
  return can && favour == AtomicFavour::remote ? AtomicBy::network : AtomicBy::processor;
}

bool atomics_by_processor(Endpoint& ep) noexcept { return ep.state().atomics_by_processor; }

Event atomic_nb_slowly(Endpoint& ep, GlobalPtr<std::byte> at, const AtomicCall& call,
                       const AtomicOptions& options) noexcept {
  return ep.state().transfers->atomic(at, call, rma::Transfers::Form::event, options.immediate).event;
}

Status atomic_nbi_slowly(Endpoint& ep, GlobalPtr<std::byte> at, const AtomicCall& call,
                         const AtomicOptions& options) noexcept {
  return ep.state().transfers->atomic(at, call, rma::Transfers::Form::group, options.immediate).status;
}

}  // namespace detail

}  // namespace aqueduct
