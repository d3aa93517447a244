#pragma once

// A client of GASNet-EX in C: a little of each part, with answers that are checked. What its parts share.

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <stdlib.h>
#include <string.h>

enum { kSegment = 1 << 20, kNotice = 203 };

extern gex_Client_t client;
extern gex_EP_t endpoint;
extern gex_TM_t world;
extern gex_Rank_t me, ranks, next;
extern char* theirs;  // the segment of the next rank

void barrier(void);
void* segment_of(gex_TM_t tm, gex_Rank_t rank);

// messages.c
void register_handlers(void);
extern gasnett_atomic_t notices;  // how many have come
void messages(void);
void waits(void);

void transfers(void);
void regions(void);
void pieces(void);
void atomics(void);
void teams(void);
void reductions(void);
void endpoints(void);
void threads(void);
