#pragma once

// The C face of Endpoint::statistics_rows in aqueduct/endpoint.hpp.

#include <aqueduct/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One counter of an endpoint, since the start of the job. The texts live as long as the endpoint.
typedef struct aq_statistic {
  const char* name;   ///< "payload_bytes_sent"; not ended by 0
  const char* unit;   ///< "bytes"; not ended by 0
  size_t name_bytes;  ///< the lengths of the two
  size_t unit_bytes;
  uint64_t value;
} aq_statistic;

/// Writes the first `most` counters to `rows`, and returns how many there are. `rows` may be null if `most` is 0. Other
/// threads of an endpoint with AQ_THREADS_MULTIPLE may change counters during the call.
size_t aq_statistics(const aq_endpoint* ep, aq_statistic* rows, size_t most);
/// One counter by its name; 0 if there is none of that name.
uint64_t aq_statistic_value(const aq_endpoint* ep, const char* name);

#ifdef __cplusplus
}
#endif
