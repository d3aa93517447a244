#pragma once

// The C face of aqueduct/am.hpp: active messages in the plain form, with 0 to 16 words of 32 bits.

#include <aqueduct/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The values of aqueduct::AmCategory.
enum aq_category {
  AQ_SHORT_REQUEST,
  AQ_MEDIUM_REQUEST,
  AQ_LONG_REQUEST,
  AQ_SHORT_REPLY,
  AQ_MEDIUM_REPLY,
  AQ_LONG_REPLY
};

/// What a handler is called with. It lives as long as the call; so does the payload of a medium message.
typedef struct aq_incoming {
  void* message;  ///< for the library
  uint32_t source;
  uint8_t category;  ///< enum aq_category
  uint8_t is_raw;    ///< 1: a raw message, which alone has a number and a tag
  uint8_t number;
  uint8_t reserved;
  uint16_t tag;
  uint16_t count;  ///< of the words
  const uint32_t* words;
  void* payload;  ///< null without one
  size_t bytes;
} aq_incoming;

/// A handler. It runs inside progress; it may reply once if the message is a request, and must not wait.
typedef void (*aq_handler)(void* context, const aq_incoming* incoming);

/// Registers a handler of `words` words. Every rank registers the same handlers in the same order.
///
/// Errors: AQ_INVALID_ARGUMENT (no handler, no such category), AQ_TOO_LARGE (more than 16 words), AQ_REFUSED,
///         AQ_IN_HANDLER, AQ_NO_MEMORY.
aq_status aq_register(aq_endpoint* ep, int category, size_t words, aq_handler handler, void* context,
                      uint16_t* id) AQ_MUST_USE;

/// The same for a handler that runs without the endpoint's lock, with AQ_THREADS_MULTIPLE: beside other calls and other
/// handlers, also beside itself. aqueduct/am.hpp, HandlerOptions::parallel, has its rules.
aq_status aq_register_parallel(aq_endpoint* ep, int category, size_t words, aq_handler handler, void* context,
                               uint16_t* id) AQ_MUST_USE;

/// A message without its payload.
typedef struct aq_call {
  const uint32_t* words;
  uint16_t count;    ///< at most 16
  uint16_t handler;  ///< plain messages: what aq_register gave
  uint16_t tag;      ///< raw messages
  uint8_t number;    ///< raw messages
  uint8_t reserved;
} aq_call;

/// Send a request to the handler on rank `to`: without a payload, with one in a buffer, with one put at a place.
/// `options` may be null. The payload may be reused at return, or as the options say.
///
/// Errors: AQ_OUT_OF_RANGE, AQ_WRONG_HANDLER, AQ_TOO_LARGE, AQ_REFUSED, AQ_PEER_LOST, AQ_IN_HANDLER, AQ_NO_MEMORY;
///         AQ_INVALID_ARGUMENT (a null payload of more than zero bytes).
aq_status aq_request_short(aq_endpoint* ep, uint32_t to, const aq_call* call,
                           const aq_options* options) AQ_MUST_USE;
aq_status aq_request_medium(aq_endpoint* ep, uint32_t to, const aq_call* call, const void* payload,
                            size_t bytes, const aq_options* options) AQ_MUST_USE;
aq_status aq_request_long(aq_endpoint* ep, aq_ptr to, const aq_call* call, const void* payload, size_t bytes,
                          const aq_options* options) AQ_MUST_USE;

/// Reply to a request from its handler, once; a raw request is answered in its own space. A long reply goes to a place
/// on the rank that sent the request. The payload may be reused at return.
///
/// Errors: AQ_INVALID_ARGUMENT (a reply, a second one, a place of another rank, a null payload of more than zero bytes),
///         AQ_TOO_LARGE, AQ_OUT_OF_RANGE, AQ_WRONG_HANDLER.
aq_status aq_reply_short(const aq_incoming* incoming, const aq_call* call) AQ_MUST_USE;
aq_status aq_reply_medium(const aq_incoming* incoming, const aq_call* call, const void* payload,
                          size_t bytes) AQ_MUST_USE;
aq_status aq_reply_long(const aq_incoming* incoming, const aq_call* call, const void* payload, size_t bytes,
                        aq_ptr to) AQ_MUST_USE;

/// The largest messages that one peer can be sent, in bytes; all zero if there is no such rank.
typedef struct aq_am_limits {
  size_t arguments;
  size_t medium;
  size_t long_request;  ///< SIZE_MAX: only the size of the target's segment limits it
  size_t long_reply;
} aq_am_limits;
aq_am_limits aq_am_limits_of(aq_endpoint* ep, uint32_t peer);

#ifdef __cplusplus
}
#endif
