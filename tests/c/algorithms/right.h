#pragma once

// Algorithms of a program in C, which are right: for the program that adds them, and for aqcheck.

#include <aqueduct/c/algorithm.h>

/// What the functions read: the same on all ranks.
typedef struct most_members {
  uint32_t ranks;
  char refusal[48];
} most_members;

/// A flat broadcast in which the root sends to the last member first, and waits for `answers` signals of each. For up to
/// `most` members.
aq_algorithm backwards(const most_members* most);

/// An all-reduce in which each member sends its input to all others, and combines in the team's order.
aq_algorithm all_inputs(void);
