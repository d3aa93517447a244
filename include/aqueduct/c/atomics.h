#pragma once

// The C face of aqueduct/atomics.hpp. The forms by name are inline for integers; the general forms take operation and
// type as numbers. An address must be a multiple of the type's size.

#include <aqueduct/c/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The values of aqueduct::AtomicOp; aqueduct/atomic_types.hpp says what each does. Floats have no bitwise ones.
enum aq_op {
  AQ_LOAD,
  AQ_STORE,
  AQ_ADD,
  AQ_AND,
  AQ_OR,
  AQ_XOR,
  AQ_MIN,
  AQ_MAX,
  AQ_SWAP,
  AQ_COMPARE_SWAP,
  AQ_MULTIPLY
};
/// The values of aqueduct::AtomicType.
enum aq_type { AQ_I32, AQ_U32, AQ_I64, AQ_U64, AQ_F32, AQ_F64 };

/// Does `op`, and waits. `operand` points to a value of the type; null for AQ_LOAD. `expected` is for AQ_COMPARE_SWAP,
/// and null otherwise. `result`, if not null, receives the old value.
///
/// Errors: AQ_MISALIGNED, AQ_OUT_OF_RANGE, AQ_PEER_LOST, AQ_IN_HANDLER, AQ_NO_MEMORY; AQ_INVALID_ARGUMENT (no such operation or type,
///         or a value is missing).
aq_status aq_atomic(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand, const void* expected,
                    void* result) AQ_MUST_USE;
/// Begins it; `result` is needed until completion, the operands are not. Errors: also AQ_REFUSED.
aq_event aq_atomic_nb(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand, const void* expected,
                      void* result, const aq_options* options) AQ_MUST_USE;
/// As aq_atomic_nb, with implicit completion.
aq_status aq_atomic_nbi(aq_endpoint* ep, int op, int type, aq_ptr at, const void* operand,
                        const void* expected, void* result, const aq_options* options) AQ_MUST_USE;

/// For the inline functions: the target's address if an instruction from here can do the atomic; else null.
static inline void* aq_atomic_place(const aq_endpoint* ep, aq_ptr at, size_t bytes) {
  void* const place = aq_mapped_for_value(ep, at, bytes);
  return (uintptr_t)place % bytes == 0 ? place : NULL;
}

// Checked builds refuse a null pointer to a result; others crash.
aq_status aq_refuse_no_result(aq_endpoint* ep);
#ifdef AQUEDUCT_CHECKED
#define AQ_DEFINE_RESULT(result) \
  if ((result) == NULL) return aq_refuse_no_result(ep);
#else
#define AQ_DEFINE_RESULT(result)
#endif
/// aq_fetch_add_u64 and so on: an atomic with an operand that waits, and gives the old value in *old.
#define AQ_DEFINE_FETCH(T, type, TYPE, name, OP, builtin)                                                 \
  AQ_MUST_USE static inline aq_status aq_##name##_##type(aq_endpoint* ep, aq_ptr at, T operand, T* old) { \
    AQ_DEFINE_RESULT(old)                                                                                   \
    T* const place = (T*)aq_atomic_place(ep, at, sizeof(T));                                              \
    if (__builtin_expect(place != NULL, 1)) {                                                             \
      *old = builtin(place, operand, __ATOMIC_SEQ_CST);                                                   \
      return aq_success();                                                                                \
    }                                                                                                     \
    return aq_atomic(ep, OP, TYPE, at, &operand, NULL, old);                                              \
  }
/// aq_add_u64, aq_store_u64: the same without the old value.
#define AQ_DEFINE_APPLY(T, type, TYPE, name, OP, builtin)                                         \
  AQ_MUST_USE static inline aq_status aq_##name##_##type(aq_endpoint* ep, aq_ptr at, T operand) { \
    T* const place = (T*)aq_atomic_place(ep, at, sizeof(T));                                      \
    if (__builtin_expect(place != NULL, 1)) {                                                     \
      (void)builtin(place, operand, __ATOMIC_SEQ_CST);                                            \
      return aq_success();                                                                        \
    }                                                                                             \
    return aq_atomic(ep, OP, TYPE, at, &operand, NULL, NULL);                                     \
  }
/// Of one type: aq_load_u64 reads; aq_compare_swap_u64 stores `desired` if the target equals `expected`, and gives the
/// old value.
#define AQ_DEFINE_ATOMICS(T, type, TYPE)                                                                   \
  AQ_DEFINE_FETCH(T, type, TYPE, fetch_add, AQ_ADD, __atomic_fetch_add)                                    \
  AQ_DEFINE_FETCH(T, type, TYPE, swap, AQ_SWAP, __atomic_exchange_n)                                       \
  AQ_DEFINE_APPLY(T, type, TYPE, add, AQ_ADD, __atomic_fetch_add)                                          \
  AQ_DEFINE_APPLY(T, type, TYPE, store, AQ_STORE, __atomic_store_n)                                        \
  AQ_MUST_USE static inline aq_status aq_load_##type(aq_endpoint* ep, aq_ptr at, T* value) {               \
    AQ_DEFINE_RESULT(value)                                                                                   \
    const T* const place = (const T*)aq_atomic_place(ep, at, sizeof(T));                                   \
    if (__builtin_expect(place != NULL, 1)) {                                                              \
      *value = __atomic_load_n(place, __ATOMIC_SEQ_CST);                                                   \
      return aq_success();                                                                                 \
    }                                                                                                      \
    return aq_atomic(ep, AQ_LOAD, TYPE, at, NULL, NULL, value);                                            \
  }                                                                                                        \
  AQ_MUST_USE static inline aq_status aq_compare_swap_##type(aq_endpoint* ep, aq_ptr at, T expected,       \
                                                             T desired, T* old) {                          \
    AQ_DEFINE_RESULT(old)                                                                                   \
    T* const place = (T*)aq_atomic_place(ep, at, sizeof(T));                                               \
    if (__builtin_expect(place != NULL, 1)) {                                                              \
      (void)__atomic_compare_exchange_n(place, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
      *old = expected;                                                                                     \
      return aq_success();                                                                                 \
    }                                                                                                      \
    return aq_atomic(ep, AQ_COMPARE_SWAP, TYPE, at, &desired, &expected, old);                             \
  }
AQ_DEFINE_ATOMICS(int32_t, i32, AQ_I32)
AQ_DEFINE_ATOMICS(uint32_t, u32, AQ_U32)
AQ_DEFINE_ATOMICS(int64_t, i64, AQ_I64)
AQ_DEFINE_ATOMICS(uint64_t, u64, AQ_U64)
#undef AQ_DEFINE_ATOMICS
#undef AQ_DEFINE_APPLY
#undef AQ_DEFINE_FETCH
#undef AQ_DEFINE_RESULT

#ifdef __cplusplus
}
#endif
