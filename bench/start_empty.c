// The least that a program under PMIx can do. bench/start_under_mpirun.py compares the start of a job with it:
//
//   start_empty         initializes PMIx and ends
//   start_empty meet    also gets 256 bytes from every other process, as any library must before it can communicate

#include <pmix.h>
#include <stdio.h>

#include <string.h>

static int meet(const pmix_proc_t* me) {
  char bytes[256] = {0};
  pmix_value_t mine = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, sizeof bytes}};
  if (PMIx_Put(PMIX_GLOBAL, "start.bytes", &mine) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS) return 1;
  pmix_info_t collect = {.value = {.type = PMIX_BOOL, .data.flag = true}};
  strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  if (PMIx_Fence(NULL, 0, &collect, 1) != PMIX_SUCCESS) return 1;
  pmix_proc_t all = *me;
  all.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* value = NULL;
  if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS) return 1;
  const pmix_rank_t processes = value->data.uint32;
  for (pmix_rank_t rank = 0; rank < processes; ++rank) {
    pmix_proc_t other = *me;
    other.rank = rank;
    if (PMIx_Get(&other, "start.bytes", NULL, 0, &value) != PMIX_SUCCESS) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  (void)argv;
  pmix_proc_t me;
  if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 1;
  const int status = argc > 1 ? meet(&me) : 0;
  return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? status : 1;
}
