#pragma once

// The C face of aqueduct/atomic_domain.hpp: who does the atomics on some words.

#include <aqueduct/c/atomics.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The operations that a program uses on some words of one type. A value.
typedef struct aq_domain {
  aq_endpoint* ep;
  uint32_t operations;  ///< 1 << op of each
  uint8_t type;
  uint8_t by;
  uint8_t reserved[2];
} aq_domain;

/// For whom a domain's atomics should be fast: ranks of other hosts, or of this one.
enum aq_favour { AQ_FAVOUR_REMOTE, AQ_FAVOUR_NEAR };

/// Makes a domain of the operations whose bits (1u << AQ_ADD | …) are set. Every rank that uses the words makes an
/// equal one; this sends nothing. Errors: AQ_INVALID_ARGUMENT (no such type or operation, or the type
/// does not have it: floating-point numbers have no bitwise ones).
aq_status aq_domain_create(aq_endpoint* ep, uint32_t operations, int type, int favour,
                           aq_domain* domain) AQ_MUST_USE;
/// Whether the network does the domain's atomics.
bool aq_domain_is_native(const aq_domain* domain);

/// As aq_atomic, aq_atomic_nb and aq_atomic_nbi. Errors: also AQ_INVALID_ARGUMENT (the operation is not in the domain).
aq_status aq_domain_atomic(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                           const void* expected, void* result) AQ_MUST_USE;
aq_event aq_domain_atomic_nb(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                             const void* expected, void* result, const aq_options* options) AQ_MUST_USE;
aq_status aq_domain_atomic_nbi(const aq_domain* domain, int op, aq_ptr at, const void* operand,
                               const void* expected, void* result, const aq_options* options) AQ_MUST_USE;

#ifdef __cplusplus
}
#endif
