/* A program that uses GASNet's tools without a job. */
#include <gasnet_tools.h>

int main(void) {
  printf("%lld, %s\n", (long long)gasnett_parse_int("2KB", 1), GASNETT_THREAD_MODEL_STR);
  return gasnett_ticks_now() == 0;
}
