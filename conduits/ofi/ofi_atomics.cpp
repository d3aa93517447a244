#include "conduits/ofi/ofi_atomics.hpp"

#include "core/apply_atomic.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

/// The provider's type for an operation. A compare-and-swap compares bits, where the provider's own of floats would
/// compare values.
fi_datatype datatype_of(AtomicOp op, AtomicType type) noexcept {
  const bool by_bits = op == AtomicOp::compare_swap;
  switch (type) {
    case AtomicType::i32: return FI_INT32;
    case AtomicType::u32: return FI_UINT32;
    case AtomicType::i64: return FI_INT64;
    case AtomicType::u64: return FI_UINT64;
    case AtomicType::f32: return by_bits ? FI_UINT32 : FI_FLOAT;
    case AtomicType::f64: return by_bits ? FI_UINT64 : FI_DOUBLE;
  }
  return FI_DATATYPE_LAST;
}

fi_op operation_of(AtomicOp op) noexcept {
  switch (op) {
    case AtomicOp::load: return FI_ATOMIC_READ;
    case AtomicOp::store:
    case AtomicOp::swap: return FI_ATOMIC_WRITE;
    case AtomicOp::add: return FI_SUM;
    case AtomicOp::bit_and: return FI_BAND;
    case AtomicOp::bit_or: return FI_BOR;
    case AtomicOp::bit_xor: return FI_BXOR;
    case AtomicOp::min: return FI_MIN;
    case AtomicOp::max: return FI_MAX;
    case AtomicOp::compare_swap: return FI_CSWAP;
    case AtomicOp::multiply: return FI_PROD;
  }
  return FI_ATOMIC_OP_LAST;
}

// Offsets of an atomic's operands in the request's slot. The result is at the start, where a get's bytes would be.
constexpr std::size_t kOperand = 8;
constexpr std::size_t kExpected = 16;

}  // namespace

void Atomics::learn() noexcept {
  for (const AtomicType type : core::AtomicSet::kTypes) {
    for (const AtomicOp op : core::AtomicSet::kOps) {
      if (!core::AtomicSet::exists(op, type)) continue;
      fi_atomic_attr found{};
      const std::uint64_t kind = op == AtomicOp::compare_swap ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
      const int error = ::fi_query_atomic(domain_, datatype_of(op, type), operation_of(op), &found, kind);
      if (error == 0 && found.count > 0 && found.size == core::bytes_of(type)) operations_.add(op, type);
    }
  }
}

// This rank's own memory goes through the provider too: CPU atomics need not be atomic with respect to the provider's.
core::Post Atomics::atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                           core::Token token) noexcept {
  Request* const request = requests_.begin(peer, Request::Kind::transfer, token);
  if (request == nullptr) [[unlikely]]
    return requests_.no_request(peer);
  std::memcpy(request->slot + kOperand, &call.operand, sizeof call.operand);
  std::memcpy(request->slot + kExpected, &call.expected, sizeof call.expected);
  request->result = call.result;
  request->result_bytes = static_cast<std::uint32_t>(core::bytes_of(call.type));
  const RemoteKey& remote = registrations_.remote(key);
  void* const descriptor = request->descriptor;
  const fi_addr_t to = peers_[peer].at;
  const std::int64_t answer =
      call.op == AtomicOp::compare_swap
          ? ::fi_compare_atomic(ep_, request->slot + kOperand, 1, descriptor, request->slot + kExpected,
                                descriptor, request->slot, descriptor, to, remote.base + offset, remote.key,
                                datatype_of(call.op, call.type), operation_of(call.op), &request->context)
          : ::fi_fetch_atomic(ep_, request->slot + kOperand, 1, descriptor, request->slot, descriptor, to,
                              remote.base + offset, remote.key, datatype_of(call.op, call.type),
                              operation_of(call.op), &request->context);
  return requests_.posted(*request, answer, "an atomic");
}

}  // namespace aqueduct::conduits::ofi
