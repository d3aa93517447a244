#pragma once

#include <aqueduct/endpoint.hpp>

namespace aqueduct {

/// Orders what this rank does to another rank: what was begun before the fence takes effect there before what is begun
/// after it.
///
/// Before:      puts, puts with a signal, signals, transfers of pieces (vis.hpp) and atomics, in every form. A message
///              before the fence arrives before a message after it: its handler runs first.
/// After:       puts, puts with a signal, signals, transfers of pieces, atomics that fetch nothing, and messages. A
///              message or a signal that arrives shows that everything before the fence is in place.
/// Not ordered: gets and atomics that fetch; a put, signal or atomic behind an earlier message (a reply can tell that
///              the message has arrived); the counter of an earlier put with a signal, where the network carries the
///              signal (the bytes are ordered); replies of handlers; and stores of the program, such as those through
///              Endpoint::local, into a prepared long payload, and by inline calls to my own memory.
/// Completion:  a fence never waits, and nothing that began before it is complete because of it: for that, wait.
/// After it:    where the network does not keep the order itself, an operation begun after the fence starts when those
///              before it are complete. A `_nb` or `_nbi` operation returns at once and starts by progress; a message, a
///              transfer of pieces, and a put whose source must be free at return wait first. With `immediate` each
///              of them is refused. While a fence holds back operations, inline calls to that rank's mapped memory
///              take the path that calls the library.
/// Errors:      out_of_range (no such rank), in_handler (a handler begins nothing that a fence could order),
///              invalid_argument (in a forked child). None for a lost rank. An operation that was held back ends with
///              peer_lost if its target is lost.
/// Cost:        no communication, but for one message to each rank the first time that messages to it are ordered over a
///              conduit that does not keep their order; that rank then acknowledges each message by itself. Nothing for
///              ranks on which nothing is in flight. The first fence of an endpoint looks at all its operations.
/// Source:      OpenSHMEM 1.5, shmem_fence.
Status fence(Endpoint& ep, Rank peer) noexcept;
/// The same for every rank: orders what goes to one rank, and nothing between different ranks. Cost: also a few
/// instructions for each rank.
Status fence(Endpoint& ep) noexcept;

}  // namespace aqueduct
