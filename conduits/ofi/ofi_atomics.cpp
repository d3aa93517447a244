#include "conduits/ofi/ofi_atomics.hpp"

#include "core/apply_atomic.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

fi_datatype datatype_of(AtomicType type) noexcept {
  switch (type) {
    case AtomicType::i32: return FI_INT32;
    case AtomicType::u32: return FI_UINT32;
    case AtomicType::i64: return FI_INT64;
    case AtomicType::u64: return FI_UINT64;
    case AtomicType::f32: return FI_FLOAT;
    case AtomicType::f64: return FI_DOUBLE;
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
  }
  return FI_ATOMIC_OP_LAST;
}

constexpr std::size_t size_of(AtomicType type) noexcept {
  return type == AtomicType::i32 || type == AtomicType::u32 || type == AtomicType::f32 ? 4 : 8;
}

// Offsets of an atomic's operands in the request's slot. The result is at the start, where a get's bytes would be.
constexpr std::size_t kOperand = 8;
constexpr std::size_t kExpected = 16;

}  // namespace

void Atomics::learn() noexcept {
  for (std::size_t type = 0; type < kTypes; ++type) {
    for (std::size_t op = 0; op < kOps; ++op) {
      const auto wanted = static_cast<AtomicOp>(op);
      // Providers also have the minimum and compare-and-swap of floats. The library has no such atomics.
      if (!core::can_apply(wanted, static_cast<AtomicType>(type))) continue;
      fi_atomic_attr found{};
      const std::uint64_t kind = wanted == AtomicOp::compare_swap ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
      const int error = ::fi_query_atomic(domain_, datatype_of(static_cast<AtomicType>(type)),
                                          operation_of(wanted), &found, kind);
      can_[type][op] = error == 0 && found.count > 0 && found.size == size_of(static_cast<AtomicType>(type));
    }
  }
}

bool Atomics::can(AtomicOp op, AtomicType type) const noexcept {
  return can_[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
}

// This rank's own memory goes through the provider too: CPU atomics need not be atomic with respect to the provider's.
core::Post Atomics::atomic(Rank peer, std::uint64_t key, std::uint64_t offset, const detail::AtomicCall& call,
                           core::Token token) noexcept {
  Request* const request = operations_.begin(peer, Request::Kind::transfer, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  std::memcpy(request->slot + kOperand, &call.operand, sizeof call.operand);
  std::memcpy(request->slot + kExpected, &call.expected, sizeof call.expected);
  request->result = call.result;
  request->result_bytes = static_cast<std::uint32_t>(size_of(call.type));
  const RemoteKey& remote = registrations_.remote(key);
  void* const descriptor = request->descriptor;
  const fi_addr_t to = peers_[peer].at;
  const std::int64_t answer =
      call.op == AtomicOp::compare_swap
          ? ::fi_compare_atomic(ep_, request->slot + kOperand, 1, descriptor, request->slot + kExpected,
                                descriptor, request->slot, descriptor, to, remote.base + offset, remote.key,
                                datatype_of(call.type), operation_of(call.op), &request->context)
          : ::fi_fetch_atomic(ep_, request->slot + kOperand, 1, descriptor, request->slot, descriptor, to,
                              remote.base + offset, remote.key, datatype_of(call.type), operation_of(call.op),
                              &request->context);
  return operations_.posted(*request, answer, "an atomic");
}

}  // namespace aqueduct::conduits::ofi
