#pragma once

// Checks for clients of GASNet's interface. One that fails says where, and ends the job with status 1.

#include <stdio.h>

#define HOLDS(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "rank %u: %s:%d: does not hold: %s\n", (unsigned)gex_System_QueryJobRank(), __FILE__, __LINE__, #condition); \
      gasnet_exit(1);                                                                        \
    }                                                                                        \
  } while (0)
#define OK(call) HOLDS((call) == GASNET_OK)
