#pragma once

// The whole public interface.
#include <aqueduct/am.hpp>
#include <aqueduct/atomic_domain.hpp>
#include <aqueduct/atomics.hpp>
#include <aqueduct/config.hpp>
#include <aqueduct/endpoint.hpp>
#include <aqueduct/event.hpp>
#include <aqueduct/global_ptr.hpp>
#include <aqueduct/job.hpp>
#include <aqueduct/order.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/rma.hpp>
#include <aqueduct/segment.hpp>
#include <aqueduct/signal.hpp>
#include <aqueduct/status.hpp>
#include <aqueduct/team.hpp>
#include <aqueduct/version.hpp>
#include <aqueduct/vis.hpp>
