#pragma once

// The parts of c_nulls. Each ends the program unless all its calls refuse the null pointer.
#include "tests/c/check.h"

// So that the compiler does not warn of a null constant.
extern volatile uintptr_t nothing;
#define NO(type) ((type*)nothing)

/// Calls on teams, segments, groups, lists, endpoints, memory, settings and jobs.
void check_null_handles(aq_endpoint* ep);
/// What handlers call to answer: with the real context of a message, and null for each other argument.
void check_null_in_replies(aq_endpoint* ep);
