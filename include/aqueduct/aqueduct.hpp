#pragma once

#if __cplusplus < 202002L
#error "Aqueduct's headers need C++20: compile with -std=c++20 (for C: aqueduct/aqueduct.h)"
#endif

// The whole public interface.
#include <aqueduct/algorithm.hpp>
#include <aqueduct/am.hpp>
#include <aqueduct/am_prepared.hpp>
#include <aqueduct/am_raw.hpp>
#include <aqueduct/atomic_domain.hpp>
#include <aqueduct/atomics.hpp>
#include <aqueduct/coll.hpp>
#include <aqueduct/coll_scratch.hpp>
#include <aqueduct/coll_traffic.hpp>
#include <aqueduct/coll_v.hpp>
#include <aqueduct/config.hpp>
#include <aqueduct/continuation.hpp>
#include <aqueduct/coroutine.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/group.hpp>
#include <aqueduct/job.hpp>
#include <aqueduct/mapped.hpp>
#include <aqueduct/order.hpp>
#include <aqueduct/piece_sizes.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/rank_list.hpp>
#include <aqueduct/rma.hpp>
#include <aqueduct/segment.hpp>
#include <aqueduct/shared_event.hpp>
#include <aqueduct/signal.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>
#include <aqueduct/threads.hpp>
#include <aqueduct/topology.hpp>
#include <aqueduct/tune.hpp>
#include <aqueduct/version.hpp>
#include <aqueduct/vis.hpp>
#include <aqueduct/wait_on.hpp>
