#include "tests/compat/client/client.h"

void atomics(void) {
  uint64_t* const counter = (uint64_t*)((char*)segment_of(world, 0) + 300000);
  double* const real = (double*)((char*)segment_of(world, 0) + 300008);
  gex_AD_t whole, floating;
  gex_AD_Create(&whole, world, GEX_DT_U64, GEX_OP_FADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_GET | GEX_OP_FCAS, 0);
  gex_AD_Create(&floating, world, GEX_DT_DBL, GEX_OP_MAX | GEX_OP_GET, 0);
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(whole, &old, 0, counter, GEX_OP_FADD, 5, 0, 0));
  HOLDS(old <= 4 * (uint64_t)ranks);
  OK(gex_AD_OpNBI_U64(whole, NULL, 0, counter, GEX_OP_SUB, 2, 0, 0));
  OK(gex_AD_OpNBI_U64(whole, NULL, 0, counter, GEX_OP_INC, 0, 0, GEX_FLAG_AD_REL));
  OK(gex_AD_OpNBI_DBL(floating, NULL, 0, real, GEX_OP_MAX, me + 0.5, 0, 0));
  gex_NBI_Wait(GEX_EC_RMW, 0);
  barrier();
  double most = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(whole, &old, 0, counter, GEX_OP_GET, 0, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_DBL(floating, &most, 0, real, GEX_OP_GET, 0, 0, 0));
  HOLDS(old == 4 * (uint64_t)ranks && most == ranks - 0.5);
  barrier();
  gex_AD_Destroy(whole);
  gex_AD_Destroy(floating);
}
