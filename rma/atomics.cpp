#include <aqueduct/atomics.hpp>

#include "rma/transfers.hpp"

namespace aqueduct {

namespace rma {

Transfers::Begun Transfers::atomic(GlobalPtr<std::byte> at, const AtomicCall& call, Form form,
                                   bool immediate) noexcept {
  const bool wide =
      call.type == AtomicType::i64 || call.type == AtomicType::u64 || call.type == AtomicType::f64;
  const std::size_t bytes = wide ? 8 : 4;
  const Access access = this->access(at, bytes);
  if (!access.status) return {access.status, Event(access.status)};
  if (at.offset() % bytes != 0) {
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
  core::NativeAtomics* native = state_.atomics_by_processor ? nullptr : state_.conduit(at.rank()).atomics();
  if (native != nullptr && native->can(call.op, call.type)) {
    // My own memory too, though it is mapped: what my processor does, the network's atomics would not wait for.
    const auto has_key = this->has_key(*access.part, at.rank());
    if (!has_key) return finish(op, has_key.status(), form, true);
    if (*has_key) return finish(op, atomic_native(op, *access.part, at, call, immediate), form, true);
  }
  op.by_packets = true;
  ++state_.statistics.reference_atomics;
  const Status status = launch(op, immediate);
  return finish(op, status, form, !status || op.begun == op.bytes);
}

}  // namespace rma

namespace detail {

std::byte* atomic_place(Endpoint& ep, GlobalPtr<std::byte> at, std::size_t bytes) noexcept {
  if (!ep.state().atomics_by_processor || at.offset() % bytes != 0) return nullptr;
  return ep.local(at, bytes);
}

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
