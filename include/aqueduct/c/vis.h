#pragma once

// The C face of aqueduct/vis.hpp and aqueduct/vis_shapes.hpp: many pieces in one call.

#include <aqueduct/c/atomics.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A contiguous piece; the offset counts from the base with which the shape is used.
typedef struct aq_piece {
  int64_t offset;
  size_t bytes;
} aq_piece;
/// One dimension of a strided shape: `count` elements, `stride` bytes apart.
typedef struct aq_dimension {
  uint64_t count;
  int64_t stride;
} aq_dimension;

enum aq_shape_kind {
  AQ_CONTIGUOUS,  ///< `bytes` bytes
  AQ_VECTOR,      ///< `count` aq_pieces at `list`
  AQ_INDEXED,     ///< pieces of `bytes` bytes, at `count` offsets (int64_t) at `list`
  AQ_STRIDED      ///< elements of `bytes` bytes; `count` aq_dimensions at `list`, the first is the outermost
};
/// The shape of one side of a transfer. The lists of AQ_VECTOR and AQ_INDEXED are needed until completion.
typedef struct aq_shape {
  uint32_t kind;  ///< enum aq_shape_kind
  uint32_t reserved;
  size_t bytes;
  const void* list;
  size_t count;
} aq_shape;

/// Write pieces of local memory to pieces of another rank's segment. Both shapes have the same total.
///
/// Errors: AQ_INVALID_ARGUMENT (sums differ, no such kind, a null list, a null local pointer), AQ_OUT_OF_RANGE,
///         AQ_REFUSED, AQ_PEER_LOST, AQ_NO_MEMORY.
aq_status aq_put_pieces(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                        const aq_shape* here) AQ_MUST_USE;
aq_event aq_put_pieces_nb(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                          const aq_shape* here, const aq_options* options) AQ_MUST_USE;
aq_status aq_put_pieces_nbi(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                            const aq_shape* here, const aq_options* options) AQ_MUST_USE;
/// The same, then adds to a counter of that rank: who sees the sum sees all pieces.
aq_event aq_put_pieces_signal_nb(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                                 const aq_shape* here, uint32_t slot, uint64_t add,
                                 const aq_options* options) AQ_MUST_USE;

/// Read pieces of another rank's segment into pieces of local memory.
aq_status aq_get_pieces(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from,
                        const aq_shape* there) AQ_MUST_USE;
aq_event aq_get_pieces_nb(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from, const aq_shape* there,
                          const aq_options* options) AQ_MUST_USE;
aq_status aq_get_pieces_nbi(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from,
                            const aq_shape* there, const aq_options* options) AQ_MUST_USE;

/// Adds each element of `from` to an element of another rank's segment, atomically. The shapes are strided, and their
/// elements have the size of the type. Errors: also AQ_MISALIGNED.
aq_event aq_accumulate_nb(aq_endpoint* ep, int type, aq_ptr to, const aq_shape* there, const void* from,
                          const aq_shape* here) AQ_MUST_USE;
aq_status aq_accumulate_nbi(aq_endpoint* ep, int type, aq_ptr to, const aq_shape* there, const void* from,
                            const aq_shape* here) AQ_MUST_USE;

/// Read or write `count` elements of `bytes` bytes at any places of any ranks, and wait.
///
/// Errors: as above; AQ_IN_HANDLER, also in a continuation.
aq_status aq_get_elements(aq_endpoint* ep, void* to, const aq_ptr* from, size_t count,
                          size_t bytes) AQ_MUST_USE;
aq_status aq_put_elements(aq_endpoint* ep, const aq_ptr* to, const void* from, size_t count,
                          size_t bytes) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
