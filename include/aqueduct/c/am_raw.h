#pragma once

// The C face of aqueduct/am_raw.hpp: handlers by numbers that the program chooses, in named spaces.

#include <aqueduct/c/am.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A named space of up to 256 raw handlers of one endpoint: a value.
typedef struct aq_space {
  void* words[2];
} aq_space;

/// Creates the space of that name, empty. Sends nothing: spaces of one name on different ranks belong together.
///
/// Errors: AQ_INVALID_ARGUMENT (no name, or it is taken), AQ_REFUSED (there are 64), AQ_IN_HANDLER, AQ_NO_MEMORY.
aq_status aq_space_create(aq_endpoint* ep, const char* name, aq_space* space) AQ_MUST_USE;

/// A flag of aq_accepts: the handler runs without the endpoint's lock, as one of aq_register_parallel.
enum { AQ_PARALLEL = 1 };

/// Which messages a handler takes; all others are dropped at the target. A null pointer to it: all. And how it runs.
typedef struct aq_accepts {
  uint8_t categories;  ///< 1 << category of each
  uint8_t least_words;
  uint8_t most_words;
  uint8_t flags;  ///< 0 or AQ_PARALLEL; unknown bits are AQ_INVALID_ARGUMENT
} aq_accepts;

/// Registers a handler for a number; removes it, after the messages that have arrived are handled; whether there is one
/// here.
///
/// Errors: AQ_INVALID_ARGUMENT (no handler, or the number has one; to remove: it has none), AQ_IN_HANDLER,
///         AQ_NO_MEMORY.
aq_status aq_space_add(const aq_space* space, uint8_t number, aq_handler handler, void* context,
                       const aq_accepts* accepts) AQ_MUST_USE;
aq_status aq_space_remove(const aq_space* space, uint8_t number) AQ_MUST_USE;
bool aq_space_has(const aq_space* space, uint8_t number);

/// Send a raw request to the handler that rank `to` has for call->number in its space of this name. `options` may be
/// null.
aq_status aq_raw_request_short(const aq_space* space, uint32_t to, const aq_call* call,
                               const aq_options* options) AQ_MUST_USE;
aq_status aq_raw_request_medium(const aq_space* space, uint32_t to, const aq_call* call, const void* payload,
                                size_t bytes, const aq_options* options) AQ_MUST_USE;
aq_status aq_raw_request_long(const aq_space* space, aq_ptr to, const aq_call* call, const void* payload,
                              size_t bytes, const aq_options* options) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
