#pragma once

// The C face of aqueduct/rma.hpp: puts and gets. Bytes have no type here; a length is in bytes.
//
// The address of local memory is null only with zero bytes. Otherwise the call fails with AQ_INVALID_ARGUMENT if the target
// is not mapped here, the bytes are many or the build is checked, and crashes elsewhere.

#include <aqueduct/c/event.h>
#include <aqueduct/c/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// For the inline functions below: what is not mapped here, is long, or has options.
aq_status aq_put_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes);
aq_event aq_put_nb_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                          const aq_options* options);
aq_status aq_put_nbi_slowly(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                            const aq_options* options);
aq_status aq_get_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes);
aq_event aq_get_nb_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes, const aq_options* options);
aq_status aq_get_nbi_slowly(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes, const aq_options* options);

/// Whether the inline functions copy by themselves: what is mapped, and short. Checked builds have null memory refused.
static inline int aq_copies_inline(const void* place, const void* local, size_t bytes) {
#ifdef AQUEDUCT_CHECKED
  if (local == NULL && bytes != 0) return 0;
#else
  (void)local;
#endif
  return place != NULL && bytes <= AQ_INLINE_BYTES;
}

/// Writes `from` to another rank's segment and waits: the bytes are in the target's memory at return.
///
/// Errors: AQ_OUT_OF_RANGE, AQ_PEER_LOST, AQ_NO_MEMORY; AQ_IN_HANDLER if the target is not mapped here.
AQ_MUST_USE static inline aq_status aq_put(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes) {
  void* const place = aq_mapped(ep, to, bytes);
  if (__builtin_expect(aq_copies_inline(place, from, bytes), 1)) {
    aq_write_bytes(place, from, bytes);
    return aq_success();
  }
  return aq_put_slowly(ep, to, from, bytes);
}
/// Begins writing. `from` must not change until the event is done, or as the options say. Errors: also AQ_REFUSED.
AQ_MUST_USE static inline aq_event aq_put_nb(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                                             const aq_options* options) {
  void* const place = options == NULL ? aq_mapped(ep, to, bytes) : NULL;
  if (__builtin_expect(aq_copies_inline(place, from, bytes), 1)) {
    aq_write_bytes(place, from, bytes);
    return aq_finished_event();
  }
  return aq_put_nb_slowly(ep, to, from, bytes, options);
}
/// As aq_put_nb, with implicit completion: the options' group, else the open region, else aq_wait_implicit.
AQ_MUST_USE static inline aq_status aq_put_nbi(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes,
                                               const aq_options* options) {
  void* const place = options == NULL ? aq_mapped(ep, to, bytes) : NULL;
  if (__builtin_expect(aq_copies_inline(place, from, bytes), 1)) {
    aq_write_bytes(place, from, bytes);
    return aq_success();
  }
  return aq_put_nbi_slowly(ep, to, from, bytes, options);
}

/// Reads another rank's segment into `to` and waits. Also makes progress at times: Endpoint::mapped_for_value.
AQ_MUST_USE static inline aq_status aq_get(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes) {
  const void* const place = aq_mapped_for_value(ep, from, bytes);
  if (__builtin_expect(aq_copies_inline(place, to, bytes), 1)) {
    aq_copy_bytes(to, place, bytes);
    return aq_success();
  }
  return aq_get_slowly(ep, to, from, bytes);
}
/// Begins reading: `to` holds the bytes once the event is done.
AQ_MUST_USE static inline aq_event aq_get_nb(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes,
                                             const aq_options* options) {
  const void* const place = options == NULL ? aq_mapped(ep, from, bytes) : NULL;
  if (__builtin_expect(aq_copies_inline(place, to, bytes), 1)) {
    aq_copy_bytes(to, place, bytes);
    return aq_finished_event();
  }
  return aq_get_nb_slowly(ep, to, from, bytes, options);
}
AQ_MUST_USE static inline aq_status aq_get_nbi(aq_endpoint* ep, void* to, aq_ptr from, size_t bytes,
                                               const aq_options* options) {
  const void* const place = options == NULL ? aq_mapped(ep, from, bytes) : NULL;
  if (__builtin_expect(aq_copies_inline(place, to, bytes), 1)) {
    aq_copy_bytes(to, place, bytes);
    return aq_success();
  }
  return aq_get_nbi_slowly(ep, to, from, bytes, options);
}

/// aq_put_u64, aq_get_u64 and so on: one value, put or got as aq_put and aq_get do.
#define AQ_DEFINE_VALUES(T, bits)                                                              \
  AQ_MUST_USE static inline aq_status aq_put_u##bits(aq_endpoint* ep, aq_ptr to, T value) {    \
    void* const place = aq_mapped(ep, to, sizeof(T));                                          \
    if (__builtin_expect(place != NULL, 1)) {                                                  \
      aq_store_word##bits(place, value);                                                       \
      return aq_success();                                                                     \
    }                                                                                          \
    return aq_put_slowly(ep, to, &value, sizeof(T));                                           \
  }                                                                                            \
  AQ_MUST_USE static inline aq_status aq_get_u##bits(aq_endpoint* ep, aq_ptr from, T* value) { \
    const void* const place = aq_mapped_for_value(ep, from, sizeof(T));                        \
    if (__builtin_expect(aq_copies_inline(place, value, sizeof(T)), 1)) {                      \
      *value = aq_load_word##bits(place);                                                      \
      return aq_success();                                                                     \
    }                                                                                          \
    return aq_get_slowly(ep, value, from, sizeof(T));                                          \
  }
AQ_DEFINE_VALUES(uint8_t, 8)
AQ_DEFINE_VALUES(uint16_t, 16)
AQ_DEFINE_VALUES(uint32_t, 32)
AQ_DEFINE_VALUES(uint64_t, 64)
#undef AQ_DEFINE_VALUES

/// A value of 16 bytes, which moves as two words of 8 bytes. Errors: also AQ_INVALID_ARGUMENT for null, in every build.
aq_status aq_put_u128(aq_endpoint* ep, aq_ptr to, const uint64_t value[2]) AQ_MUST_USE;
aq_status aq_get_u128(aq_endpoint* ep, aq_ptr from, uint64_t value[2]) AQ_MUST_USE;

/// Copies between two segments and waits. Neither side has to be on this rank.
aq_status aq_copy(aq_endpoint* ep, aq_ptr to, aq_ptr from, size_t bytes) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
