#pragma once

// The C face of aqueduct/endpoint.hpp and aqueduct/mapped.hpp. Waits are in <aqueduct/c/wait.h>.

#include <aqueduct/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where one rank's part of a segment is mapped in this process; zero if it is not. Read it by aq_find_in_window and what
/// uses that only. It never moves.
typedef struct __attribute__((__may_alias__)) aq_window {
  char* base;
  uint64_t bytes;
} aq_window;

/// One rank. The members are for the inline functions of these headers; read rank and ranks by the functions below.
struct __attribute__((__may_alias__)) aq_endpoint {
  void* state;
  char unused[3904];  // see aqueduct/endpoint.hpp
  uint32_t rank;
  uint32_t ranks;
  uint32_t segments;
  uint32_t segment_shift;
  const aq_window* windows;  ///< [(segment << segment_shift) | rank]
  const aq_window* value_windows;
  const aq_window* rows[8];  ///< of the first segments: &windows[segment << segment_shift]
  const aq_window* value_rows[8];
};

// Checked builds: what the inline functions do with a null pointer. What they call then refuses it.
#ifdef AQUEDUCT_CHECKED
#define AQ_DEFINE_NO_NULL(pointer, answer) \
  if ((pointer) == NULL) return answer;
#else
#define AQ_DEFINE_NO_NULL(pointer, answer)
#endif

/// For inline functions: the address of a range of a window; null if it is closed, or the range is not inside it.
static inline char* aq_find_in_window(const aq_window* window, uint64_t offset, size_t bytes) {
  const uint64_t size = __atomic_load_n(&window->bytes, __ATOMIC_ACQUIRE);
  if (__builtin_expect(offset <= size && bytes <= size - offset, 1)) {
    char* const base = __atomic_load_n(&window->base, __ATOMIC_RELAXED);
    if (__builtin_expect(base != NULL, 1)) return base + offset;
  }
  return NULL;
}
/// For inline functions: a rank's window in one of the two tables of windows; null if there is no such rank or number.
static inline const aq_window* aq_window_of(const aq_endpoint* ep, const aq_window* windows, uint32_t rank,
                                            uint32_t segment) {
  if (__builtin_expect(segment >= ep->segments || rank >= ep->ranks, 0)) return NULL;
  return &windows[((size_t)segment << ep->segment_shift) | rank];
}
/// For the inline functions: the address of a range in one of the two tables of windows, whose first rows are `rows`; null if it is
/// not mapped.
static inline char* aq_in_window(const aq_endpoint* ep, const aq_window* const rows[8], const aq_window* windows, aq_ptr at,
                                 size_t bytes) {
  const aq_window* const window = __builtin_expect(at.segment < 8 && at.rank < ep->ranks, 1)
                                      ? rows[at.segment] + at.rank
                                      : aq_window_of(ep, windows, at.rank, at.segment);
  return __builtin_expect(window != NULL, 1) ? aq_find_in_window(window, at.offset, bytes) : NULL;
}
/// The address of a range of a segment; null if it is not mapped here, or not inside the segment. Maps nothing.
static inline void* aq_mapped(const aq_endpoint* ep, aq_ptr at, size_t bytes) {
  AQ_DEFINE_NO_NULL(ep, NULL)
  return aq_in_window(ep, ep->rows, ep->windows, at, bytes);
}
/// As aq_mapped, for atomics and for reading values: Endpoint::mapped_for_value.
static inline void* aq_mapped_for_value(const aq_endpoint* ep, aq_ptr at, size_t bytes) {
  AQ_DEFINE_NO_NULL(ep, NULL)
  return aq_in_window(ep, ep->value_rows, ep->value_windows, at, bytes);
}

static inline uint32_t aq_rank(const aq_endpoint* ep) {
  AQ_DEFINE_NO_NULL(ep, AQ_NO_RANK)
  return ep->rank;
}
static inline uint32_t aq_ranks(const aq_endpoint* ep) {
  AQ_DEFINE_NO_NULL(ep, 0)
  return ep->ranks;
}
#undef AQ_DEFINE_NO_NULL

/// My part of a segment, and its size. Null and 0 if there is no such segment.
void* aq_my_segment(const aq_endpoint* ep, uint32_t segment, size_t* bytes);
/// The size of a rank's part of a segment; 0 if there is no such rank or segment. Sends nothing.
uint64_t aq_segment_bytes(const aq_endpoint* ep, uint32_t rank, uint32_t segment);
/// The address in the rank's own process; 0 if the part is empty or does not exist. Sends nothing.
uint64_t aq_base_of(aq_endpoint* ep, uint32_t rank, uint32_t segment);

/// A pointer to memory that plain loads and stores reach from here, or null. The first use maps a neighbour's part.
void* aq_local(aq_endpoint* ep, aq_ptr at, size_t bytes);
/// For aq_is_mapped: the answer while a fence holds back operations, when inline calls find no window.
aq_bool aq_is_mapped_without_window(const aq_endpoint* ep, uint32_t rank, uint32_t segment);
/// Whether a rank's part of a segment is mapped here. Maps nothing.
static inline aq_bool aq_is_mapped(const aq_endpoint* ep, uint32_t rank, uint32_t segment) {
  return aq_mapped(ep, aq_at(rank, segment, 0), 0) != NULL || aq_is_mapped_without_window(ep, rank, segment);
}
/// Maps every part of a segment that can be mapped here; returns how many are, with my own.
uint32_t aq_map_all(aq_endpoint* ep, uint32_t segment);

/// The ranks of my host, including me, in rising order. Lives as long as the endpoint.
const uint32_t* aq_neighbours(const aq_endpoint* ep, size_t* count);
aq_bool aq_is_neighbour(const aq_endpoint* ep, uint32_t rank);
/// A number for the rank's host; AQ_NO_RANK if there is no such rank.
uint32_t aq_host_of(const aq_endpoint* ep, uint32_t rank);
/// Whether the rank's host has more of the job's ranks than processors on which these may run, by their bindings when the job
/// started. False if there is no such rank.
aq_bool aq_shares_processors(aq_endpoint* ep, uint32_t rank);
/// Whether a rank is known to have died or left.
aq_bool aq_is_lost(const aq_endpoint* ep, uint32_t rank);
/// The name of the conduit that serves a rank; empty if there is no such rank.
size_t aq_conduit_of(const aq_endpoint* ep, uint32_t rank, char* text, size_t bytes);
/// Which threads may use the endpoint: enum aq_threads.
int aq_threads_of(const aq_endpoint* ep);

/// Processes what has arrived, without waiting. Returns the number of packets and completions processed.
int aq_progress(aq_endpoint* ep);
/// Whether this thread is inside a handler or a continuation of this endpoint, where nothing may wait.
aq_bool aq_in_handler(const aq_endpoint* ep);

#ifdef __cplusplus
}
#endif
