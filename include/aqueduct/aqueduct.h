#pragma once

/// Aqueduct for programs in C11, and for languages that call C. The same library as <aqueduct/aqueduct.hpp>.
///
/// A call here is one call of the C++ interface. The comments here are short; each header names the C++ header that
/// says all: what completes when, how long buffers must live, which errors there are, and what it costs.
///
/// In general:
/// - Names begin with aq_ or AQ_. A pointer may be null only where the comment says so. Sizes and offsets are in bytes.
///   A null handle, or null where something is read or stored, is AQ_INVALID_ARGUMENT, and the log names call and argument. Calls
///   without a status then answer 0, null, false or AQ_NO_RANK, and true where the question is whether something is over. Inline
///   calls look for null in checked builds alone.
/// - A call that can fail returns aq_status. A result comes in the last parameter, and is set only on success.
/// - A parameter that an enumeration describes is an int. Other numbers than those of the enumeration are
///   AQ_INVALID_ARGUMENT.
/// - Ranks, segments, times and texts are plain numbers and arrays. Times are in nanoseconds; AQ_FOREVER waits on.
/// - Errors, threads and forked children: as in the C++ interface. No exception leaves the library.
/// - The puts, gets and atomics of <aqueduct/c/rma.h> and <aqueduct/c/atomics.h> are inline, and make no call where the
///   target is mapped here. For this they read aq_endpoint and aq_window, whose layout is fixed within a minor version.
#include <aqueduct/c/algorithm.h>
#include <aqueduct/c/am.h>
#include <aqueduct/c/am_prepared.h>
#include <aqueduct/c/am_raw.h>
#include <aqueduct/c/atomic_domain.h>
#include <aqueduct/c/atomics.h>
#include <aqueduct/c/coll.h>
#include <aqueduct/c/config.h>
#include <aqueduct/c/endpoint.h>
#include <aqueduct/c/event.h>
#include <aqueduct/c/group.h>
#include <aqueduct/c/job.h>
#include <aqueduct/c/order.h>
#include <aqueduct/c/rank_list.h>
#include <aqueduct/c/rma.h>
#include <aqueduct/c/segment.h>
#include <aqueduct/c/shared_event.h>
#include <aqueduct/c/signal.h>
#include <aqueduct/c/statistics.h>
#include <aqueduct/c/status.h>
#include <aqueduct/c/team.h>
#include <aqueduct/c/tune.h>
#include <aqueduct/c/types.h>
#include <aqueduct/c/vis.h>
#include <aqueduct/c/wait.h>
