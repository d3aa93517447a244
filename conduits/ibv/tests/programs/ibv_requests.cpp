// Counts the work requests of one call of each kind, over the mock network. Exit status 1: not as many as issue 5
// wants.

#include "conduits/ibv/tests/programs/two_ranks.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

#include <dlfcn.h>

namespace {

using namespace aqueduct;

/// A function of the plug-in that the job has loaded.
int requests() {
  static void* const plugin = ::dlopen(std::getenv("AQUEDUCT_CONDUIT"), RTLD_NOW | RTLD_NOLOAD);
  static const auto count = reinterpret_cast<int (*)()>(::dlsym(plugin, "ibv_mock_requests"));
  return count();
}

struct Number {
  std::uint64_t value;
};

bool asks_for(const char* what, int wanted, const std::function<bool()>& call) {
  const int before = requests();
  const bool done = call();
  const int asked = requests() - before;
  std::cout << what << ": " << asked << (asked == wanted && done ? "\n" : ", which is wrong\n");
  return asked == wanted && done;
}

/// Rank 1 makes no progress meanwhile, so all requests are from rank 0.
bool count_all(Endpoint& me, const ShortRequest<Number>& short_one, const LongRequest<Number>& long_one) {
  const std::vector<std::byte> bytes(64), many(64 << 10);
  const GlobalPtr<std::byte> there{1, 0};
  bool right = asks_for("put", 1, [&] { return put(me, there, bytes).ok(); });
  right &= asks_for("put with a signal", 1, [&] { return put_signal(me, there, bytes, {0, 1}).ok(); });
  const AtomicDomain<std::uint64_t> domain(me, {AtomicOp::add, AtomicOp::compare_swap, AtomicOp::load});
  const GlobalPtr<std::uint64_t> word{1, 8};
  std::uint64_t before = 0;
  right &= asks_for("fetch-and-add", 1, [&] { return domain.is_native() && domain.fetch_add(word, 2).ok(); });
  right &= asks_for("compare-and-swap", 1, [&] { return domain.compare_swap(word, 0, 1).ok(); });
  right &=
      asks_for("atomic load", 1, [&] { return me.wait(domain.nb(AtomicOp::load, word, 0, &before)).ok(); });
  right &= asks_for("AM short", 1, [&] { return request(me, 1, short_one, {1}).ok(); });
  right &= asks_for("AM long", 2, [&] { return request(me, long_one, {1}, many, there).ok(); });
  return right;
}

}  // namespace

int main() {
  std::atomic<bool> ready = false;
  std::atomic<bool> counted = false;
  return run_two_ranks([&](Endpoint& me) {
    const auto short_one = on_short_request<Number>(me, [](auto&, const Number&) {});
    const auto long_one = on_long_request<Number>(me, [](auto&, const Number&, auto) {});
    bool right = short_one && long_one && me.barrier();
    if (me.rank() == 0) {
      while (!ready) std::this_thread::yield();
      right = right && count_all(me, *short_one, *long_one);
      counted = true;
    } else {
      ready = true;
      while (!counted) std::this_thread::yield();
    }
    return right;
  });
}
