#pragma once

#include "tests/layer/pe.hpp"

namespace aqueduct::layer {

// Each part is collective over all ranks, begins with a cleared heap, and leaves no operation in flight.

void puts_and_gets(Pe& pe);
void strided(Pe& pe);
void addresses(Pe& pe);
void waiting(Pe& pe);
void signals(Pe& pe);
void order(Pe& pe);
void locks(Pe& pe);
void atomics(Pe& pe);
void contexts(Pe& pe);
void events(Pe& pe);
void collectives(Pe& pe);
void barriers(Pe& pe);
void messages(Pe& pe);
void threads(Pe& pe);  ///< with Threads::multiple; otherwise it does nothing

/// The last rank ends the job with the code, from a handler. Does not return.
[[noreturn]] void leave(Pe& pe, int code);

}  // namespace aqueduct::layer
