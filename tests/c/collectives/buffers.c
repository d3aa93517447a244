// The buffers of calls, and what is in them.
#include "tests/c/collectives/checks.h"

int64_t input_of(uint32_t of, uint64_t i) { return (int64_t)(of * UINT64_C(1000003) + i * 7 + 1); }

int64_t sum_of(uint32_t members, uint64_t i) {
  int64_t sum = 0;
  for (uint32_t of = 0; of < members; ++of) sum += input_of(of, i);
  return sum;
}

void check_number(int64_t found, int64_t expected, uint64_t at, const char* what) {
  if (found == expected) return;
  fprintf(stderr, "%s: number %llu is %lld, not %lld\n", what, (unsigned long long)at, (long long)found,
          (long long)expected);
  exit(1);
}

void prepare(const member* m, int kind, buffers* b) {
  size_t bytes = 0;
  unsigned char* const segment = aq_my_segment(m->ep, 0, &bytes);
  HOLDS(bytes >= 2 * kSpace && m->ranks <= 8);
  b->memory = NULL;
  if (kind == kMine) {
    b->memory = malloc(2 * kSpace);
    HOLDS(b->memory != NULL);
    b->in = b->memory;
    b->out = b->in + kSpace / 8;
    b->in_at = aq_mine(b->in);
    b->out_at = aq_mine(b->out);
    return;
  }
  // In a list each member has another place.
  const uint64_t shift = kind == kEach ? 64 * (uint64_t)m->me : 0;
  b->in = (int64_t*)(void*)(segment + shift);
  b->out = (int64_t*)(void*)(segment + kSpace + shift);
  for (uint32_t i = 0; i < m->ranks; ++i) {
    b->in_each[i] = aq_at(aq_team_rank_of(m->team, i), 0, 64 * (uint64_t)i);
    b->out_each[i] = aq_at(aq_team_rank_of(m->team, i), 0, kSpace + 64 * (uint64_t)i);
  }
  b->in_at = kind == kEach ? aq_on_each(b->in_each) : aq_on_all(0, 0);
  b->out_at = kind == kEach ? aq_on_each(b->out_each) : aq_on_all(0, kSpace);
}

void fill(const member* m, buffers* b, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) b->in[i] = input_of(m->me, i);
  for (uint64_t i = 0; i <= m->ranks * (uint64_t)kMostCount; ++i) b->out[i] = -1;
}
