#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::loop {

/// A conduit for many ranks in one process, which communicate through queues in its memory.
///
/// It is the example for writing a conduit. Read mailbox.hpp, loop_network.hpp, loop_conduit.cpp (the five functions)
/// and loop.cpp (settings and entry); then loop_native.hpp, for networks with native operations. It is also the test
/// double: see turns.hpp for runs that repeat, and tests/conformance/faults for a
/// network with faults.
extern const core::ConduitEntry loop_entry;

}  // namespace aqueduct::conduits::loop
