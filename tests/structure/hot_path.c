// Compiled and disassembled by check_hot_path.py, never run.
#include <aqueduct/aqueduct.h>

int hot_c_put(aq_endpoint* ep, aq_ptr to, uint64_t value) { return aq_ok(aq_put_u64(ep, to, value)); }
void* hot_c_put_nb(aq_endpoint* ep, aq_ptr to, const uint64_t* from) {
  return aq_put_nb(ep, to, from, sizeof *from, NULL).word;
}
// A length that is known only at run time.
int hot_c_put_bytes(aq_endpoint* ep, aq_ptr to, const void* from, size_t bytes) {
  return aq_ok(aq_put(ep, to, from, bytes));
}
int hot_c_get(aq_endpoint* ep, aq_ptr from, uint64_t* value) { return aq_ok(aq_get_u64(ep, from, value)); }
int hot_c_fetch_add(aq_endpoint* ep, aq_ptr at, uint64_t* old) {
  return aq_ok(aq_fetch_add_u64(ep, at, 3, old));
}
int hot_c_compare_swap(aq_endpoint* ep, aq_ptr at, uint64_t* old) {
  return aq_ok(aq_compare_swap_u64(ep, at, 1, 2, old));
}

// The check must reject this one: the same put, behind a call.
__attribute__((noinline)) int behind_a_call(aq_endpoint* ep, aq_ptr to, uint64_t value) {
  __asm__ volatile("" ::: "memory");
  return hot_c_put(ep, to, value);
}
int cold_c_put(aq_endpoint* ep, aq_ptr to, uint64_t value) {
  return behind_a_call(ep, aq_add_offset(to, 8), value) && behind_a_call(ep, to, value);
}
