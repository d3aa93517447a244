#pragma once

// A client of GASNet-EX in C: the less used forms of each part, on teams of odd shapes, beside a model of the answers. What its
// parts share.

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include "tests/compat/check.h"

#include <stdlib.h>
#include <string.h>

enum { kSegment = 1 << 20, kAsk = 200, kAnswer = 201, kAskLong = 202, kFlood = 203, kWrong = 210 };

extern gex_Client_t client;
extern gex_EP_t endpoint;
extern gex_TM_t world;
extern gex_Rank_t me, ranks;
extern char* mine;

void barrier(gex_TM_t tm);
char* segment_of(gex_TM_t tm, gex_Rank_t rank);

void atomics(gex_TM_t team);
void collectives(gex_TM_t team);
void transfers(gex_TM_t team);
void pieces(gex_TM_t team);
void register_handlers(void);
void messages(gex_TM_t team);
void on(gex_TM_t team);  // all of these
void teams(void);
void segments(void);
void kinds(void);
void endpoints(void);
void system_queries(void);
