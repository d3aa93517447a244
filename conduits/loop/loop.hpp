#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::loop {

/// Many ranks in one process, joined by queues in its memory.
///
/// The example to copy: read mailbox.hpp, loop_network.hpp, loop_conduit.cpp (the five functions), this
/// file's .cpp (settings and entry), then, for a network that can do more, loop_native.hpp. Also the test
/// double: see turns.hpp for runs that repeat and faulty.hpp for a network that misbehaves.
extern const core::ConduitEntry loop_entry;

}  // namespace aqueduct::conduits::loop
