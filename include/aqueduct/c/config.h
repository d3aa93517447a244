#pragma once

// The C face of aqueduct/config.hpp and aqueduct/threads.hpp.

#include <aqueduct/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Every setting with its value: aqueduct::Config.
typedef struct aq_config aq_config;

/// The built-in defaults; and the defaults overridden by this process's AQUEDUCT_* variables. Null: no memory.
aq_config* aq_config_create(void);
aq_config* aq_config_from_environment(void);
/// `config` may be null.
void aq_config_destroy(aq_config* config);

/// Sets a value by the setting's name ("segment_bytes") or variable. Errors: AQ_BAD_SETTING, AQ_NO_MEMORY.
aq_status aq_config_set(aq_config* config, const char* name, const char* value) AQ_MUST_USE;

/// Which threads may use an endpoint: aqueduct::Threads.
enum aq_threads { AQ_THREADS_SINGLE, AQ_THREADS_SERIALIZED, AQ_THREADS_MULTIPLE };
/// Errors: also AQ_INVALID_ARGUMENT.
aq_status aq_config_set_threads(aq_config* config, int threads) AQ_MUST_USE;

/// The value of a setting, as text and as a number (bytes, or nanoseconds of a duration; 1 and 0 of a boolean).
///
/// Errors: AQ_BAD_SETTING (there is no such setting; aq_config_text then returns 0 and gives an empty text).
size_t aq_config_text(const aq_config* config, const char* name, char* text, size_t bytes);
aq_status aq_config_number(const aq_config* config, const char* name, int64_t* value) AQ_MUST_USE;

/// The mistakes found so far; aq_job_start rejects a config that has any. `index` counts from 0.
size_t aq_config_problems(const aq_config* config);
size_t aq_config_problem_text(const aq_config* config, size_t index, char* text, size_t bytes);

#ifdef __cplusplus
}
#endif
