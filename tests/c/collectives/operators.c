// Operators of the program's own, and pairs of a value and an index.
#include "tests/c/collectives/checks.h"

#include <string.h>

// Products of matrices depend on the order, but not on the grouping.
typedef struct matrix {
  uint64_t at[2][2];
} matrix;
static matrix product_of(const matrix* left, const matrix* right) {
  matrix made;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      made.at[i][j] = left->at[i][0] * right->at[0][j] + left->at[i][1] * right->at[1][j];
    }
  }
  return made;
}
static void multiply(void* to, const void* left, const void* right, size_t count, void* context) {
  ++*(unsigned*)context;
  for (size_t i = 0; i < count; ++i) {
    matrix a, b;
    memcpy(&a, (const matrix*)left + i, sizeof a);
    memcpy(&b, (const matrix*)right + i, sizeof b);
    const matrix made = product_of(&a, &b);
    memcpy((matrix*)to + i, &made, sizeof made);
  }
}
static matrix matrix_of(uint32_t of, uint64_t i) {
  const matrix made = {{{of + 1, i + 2}, {2 * i + 1, of + 3}}};
  return made;
}
static matrix product_of_first(uint32_t members, uint64_t i) {
  matrix product = matrix_of(0, i);
  for (uint32_t of = 1; of < members; ++of) {
    const matrix next = matrix_of(of, i);
    product = product_of(&product, &next);
  }
  return product;
}

void check_operators(const member* m, unsigned* combined) {
  enum { kMatrices = 50 };
  const aq_operator wrong[] = {{NULL, NULL, 32, 0, 0}, {multiply, NULL, 0, 0, 0}, {multiply, NULL, 32, 0, 1}};
  for (size_t i = 0; i < 3; ++i) FAILS(AQ_INVALID_ARGUMENT, aq_operator_add(m->ep, 8, &wrong[i]));
  const aq_operator by_matrix = {multiply, combined, sizeof(matrix), 0, 0};
  OK(aq_operator_add(m->ep, 7, &by_matrix));
  OK(aq_operator_add(m->ep, 7, &by_matrix));  // the same again
  OK(aq_barrier(m->ep));
  matrix in[kMatrices], out[kMatrices];
  for (uint64_t i = 0; i < kMatrices; ++i) in[i] = matrix_of(m->me, i);
  const aq_block block = aq_block_of_bytes(kMatrices, sizeof(matrix));
  aq_coll_options options = {AQ_SYNC_ALL, AQ_SYNC_ALL, AQ_ORDER_ANY, 0, 0};
  for (uint32_t order = AQ_ORDER_ANY; order <= AQ_ORDER_EXACT; ++order) {
    options.order = order;
    OK(aq_all_reduce(m->team, aq_mine(in), aq_mine(out), block, aq_by_user(7), &options));
    for (uint64_t i = 0; i < kMatrices; ++i) {
      const matrix expected = product_of_first(m->ranks, i);
      HOLDS(memcmp(&out[i], &expected, sizeof expected) == 0);
    }
    OK(aq_scan(m->team, aq_mine(in), aq_mine(out), block, aq_by_user(7), &options));
    for (uint64_t i = 0; i < kMatrices; ++i) {
      const matrix expected = product_of_first(m->me + 1, i);
      HOLDS(memcmp(&out[i], &expected, sizeof expected) == 0);
    }
  }

  const double mine = m->me % 2 == 0 ? 5 - (double)m->me : 9;
  aq_f64_index least = {mine, (int64_t)m->me}, found = {0, -1};
  OK(aq_all_reduce(m->team, aq_mine(&least), aq_mine(&found), aq_block_of(AQ_ELEMENT_F64_INDEX, 1),
                   aq_by(AQ_REDUCE_MIN_INDEX), NULL));
  const int64_t at = (m->ranks - 1) / 2 * 2;
  HOLDS(found.index == at && found.value == 5 - (double)at);
}
