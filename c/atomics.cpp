#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// An atomic in the terms of C, before its numbers are checked.
struct PlainAtomic {
  aq_endpoint* ep;
  int op;
  aq_ptr at;
  const void* operand;
  const void* expected;
  void* result;
  detail::AtomicBy by = detail::AtomicBy::job;
};

template <class T>
T value_at(const void* from) noexcept {
  T value{};
  if (from != nullptr) std::memcpy(&value, from, sizeof value);
  return value;
}

/// Whether T has the operation, and the caller has given what it needs.
template <Atomic T>
bool is_whole(const PlainAtomic& call) noexcept {
  if (call.op < AQ_LOAD || call.op > AQ_MULTIPLY || !detail::has<T>(static_cast<AtomicOp>(call.op)))
    return false;
  return (call.op == AQ_LOAD || call.operand != nullptr) &&
         (call.op != AQ_COMPARE_SWAP || call.expected != nullptr);
}

template <Atomic T>
Event begin_atomic(const PlainAtomic& call, const AtomicOptions& options) noexcept {
  if (!is_whole<T>(call)) return Event(Status(ErrorCode::invalid_argument, call.at.rank));
  return detail::atomic_nb<T>(whole(call.ep), static_cast<AtomicOp>(call.op), whole(call.at).as<T>(),
                              value_at<T>(call.operand), value_at<T>(call.expected),
                              static_cast<T*>(call.result), options,
                              detail::WayOfDomain::of(whole(call.ep), call.by));
}
template <Atomic T>
Status begin_atomic_nbi(const PlainAtomic& call, const AtomicOptions& options) noexcept {
  if (!is_whole<T>(call)) return {ErrorCode::invalid_argument, call.at.rank};
  return detail::atomic_nbi<T>(whole(call.ep), static_cast<AtomicOp>(call.op), whole(call.at).as<T>(),
                               value_at<T>(call.operand), value_at<T>(call.expected),
                               static_cast<T*>(call.result), options,
                               detail::WayOfDomain::of(whole(call.ep), call.by));
}

/// Calls `body` with a value of the type's C++ type. An unknown type: returns invalid_argument.
template <class F>
auto with_type(int type, F body) noexcept {
  using Answer = decltype(body(std::int32_t{}));
  switch (type) {
    case AQ_I32: return body(std::int32_t{});
    case AQ_U32: return body(std::uint32_t{});
    case AQ_I64: return body(std::int64_t{});
    case AQ_U64: return body(std::uint64_t{});
    case AQ_F32: return body(float{});
    case AQ_F64: return body(double{});
    default: return Answer(Status(ErrorCode::invalid_argument));
  }
}

Event atomic_nb_of(int type, const PlainAtomic& call, const AtomicOptions& options) noexcept {
  return with_type(type, [&](auto zero) { return begin_atomic<decltype(zero)>(call, options); });
}
Status atomic_nbi_of(int type, const PlainAtomic& call, const AtomicOptions& options) noexcept {
  return with_type(type, [&](auto zero) { return begin_atomic_nbi<decltype(zero)>(call, options); });
}

/// The operation in a domain: out of a domain's set it has no operation, which `is_whole` refuses.
PlainAtomic in_domain(const aq_domain& domain, int op, aq_ptr at, const void* operand, const void* expected,
                      void* result) noexcept {
  const bool belongs = op >= AQ_LOAD && op <= AQ_MULTIPLY && (domain.operations >> op & 1) != 0;
  return {domain.ep, belongs ? op : AQ_MULTIPLY + 1,          at, operand, expected,
          result,    static_cast<detail::AtomicBy>(domain.by)};
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_atomic(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand, const void* expected,
                    void* result) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_atomic", {{"ep", ep}}));
  return c::plain(c::whole(ep).wait(c::atomic_nb_of(type, {ep, op, at, operand, expected, result}, {})));
}
aq_event aq_atomic_nb(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand, const void* expected,
                      void* result, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(ep, "aq_atomic_nb", {{"ep", ep}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return c::atomic_nb_of(type, {ep, op, at, operand, expected, result}, call.atomic());
  });
}
aq_status aq_atomic_nbi(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand,
                        const void* expected, void* result, const aq_options* options) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_atomic_nbi", {{"ep", ep}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    return c::atomic_nbi_of(type, {ep, op, at, operand, expected, result}, call.atomic());
  });
}

aq_status aq_domain_create(aq_endpoint* ep, uint32_t operations, int type, int favour, aq_domain* domain) {
  if (ep == nullptr || domain == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_domain_create", {{"ep", ep}, {"domain", domain}}));
  constexpr std::uint32_t kKnown = (1u << (AQ_MULTIPLY + 1)) - 1;
  const bool known_favour = favour == AQ_FAVOUR_REMOTE || favour == AQ_FAVOUR_NEAR;
  if ((operations & ~kKnown) != 0 || !known_favour) return c::plain(ErrorCode::invalid_argument);
  return c::plain(c::with_type(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (int op = AQ_LOAD; op <= AQ_MULTIPLY; ++op) {
      const bool wanted = (operations >> op & 1) != 0;
      if (wanted && !detail::has<T>(static_cast<AtomicOp>(op))) return ErrorCode::invalid_argument;
    }
    const detail::AtomicBy by = detail::atomic_by(c::whole(ep), operations, detail::atomic_type<T>(),
                                                  static_cast<AtomicFavour>(favour));
    *domain = {ep, operations, static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(by), {0, 0}};
    return {};
  }));
}
bool aq_domain_is_native(const aq_domain* domain) {
  if (domain == nullptr) [[unlikely]]
    return {};
  return static_cast<detail::AtomicBy>(domain->by) == detail::AtomicBy::network;
}
aq_status aq_domain_atomic(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                           const void* expected, void* result) {
  if (domain == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_domain_atomic", {{"domain", domain}}));
  const c::PlainAtomic call = c::in_domain(*domain, op, at, operand, expected, result);
  return c::plain(c::whole(domain->ep).wait(c::atomic_nb_of(domain->type, call, {})));
}
aq_event aq_domain_atomic_nb(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                             const void* expected, void* result, const aq_options* options) {
  if (domain == nullptr) [[unlikely]]
    return c::plain(Event(c::refuse_null(nullptr, "aq_domain_atomic_nb", {{"domain", domain}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return c::atomic_nb_of(domain->type, c::in_domain(*domain, op, at, operand, expected, result),
                           call.atomic());
  });
}
aq_status aq_domain_atomic_nbi(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                               const void* expected, void* result, const aq_options* options) {
  if (domain == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_domain_atomic_nbi", {{"domain", domain}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    return c::atomic_nbi_of(domain->type, c::in_domain(*domain, op, at, operand, expected, result),
                            call.atomic());
  });
}

aq_status aq_refuse_no_result(aq_endpoint* ep) {
  return c::plain(c::refuse_null(ep, "an atomic with a result", {{"old (or value)", nullptr}}));
}
