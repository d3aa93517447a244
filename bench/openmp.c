// An array reduction of OpenMP, beside which bench/openmp.py puts a reduce of Aqueduct's: each thread has a vector of 64-bit numbers,
// and one array gets their sums (requirements H-40 and HB-05). As in aqperf, the vectors are written once, before the first turn.
//
//   openmp THREADS NUMBERS MILLISECONDS: prints the median of a reduction in nanoseconds

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void* a, const void* b) {
  const double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

int main(int argc, char** argv) {
  enum { kMost = 100000 };
  if (argc != 4) return fputs("usage: openmp THREADS NUMBERS MILLISECONDS\n", stderr), 2;
  const int threads = atoi(argv[1]);
  const size_t count = strtoul(argv[2], NULL, 10);
  const double until = omp_get_wtime() + atof(argv[3]) / 1000;
  uint64_t* const all = malloc(threads * count * sizeof *all);
  uint64_t* const sum = calloc(count, sizeof *sum);
  double* const times = malloc(kMost * sizeof(double));
  if (threads < 1 || count == 0 || all == NULL || sum == NULL || times == NULL) return 2;
  size_t turns = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    for (size_t i = 0; i < count; ++i) all[t * count + i] = (uint64_t)t + i;
  }
  do {
    for (size_t i = 0; i < count; ++i) sum[i] = 0;
    const double begin = omp_get_wtime();
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum[:count])
    for (int t = 0; t < threads; ++t) {
      for (size_t i = 0; i < count; ++i) sum[i] += all[t * count + i];
    }
    times[turns++] = omp_get_wtime() - begin;
    for (size_t i = 0; i < count; ++i) {
      if (sum[i] != (uint64_t)threads * (threads - 1) / 2 + threads * i)
        return fputs("openmp: a wrong sum\n", stderr), 1;
    }
  } while (turns < 3 || (turns < kMost && omp_get_wtime() < until));
  qsort(times, turns, sizeof(double), by_value);
  printf("%.1f\n", times[turns / 2] * 1e9);
  return 0;
}
