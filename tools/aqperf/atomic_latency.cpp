#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/raw_memory.hpp"
#include "tools/aqperf/sampler.hpp"

#include <atomic>

namespace aqueduct::perf {

namespace {

using Word = std::uint64_t;
using Run = std::function<void(std::uint64_t)>;

/// The same operation through the library and as the processor's own instruction.
struct Pair {
  Run measured;
  Run raw;
};

/// `through` does it once with the library and returns a Result; `direct` does it once on an atomic
/// reference.
template <class Through, class Direct>
Pair pair_of(Endpoint& ep, GlobalPtr<Word> at, Word* place, Through through, Direct direct) {
  return {[=, &ep](std::uint64_t turns) {
            repeat(turns, [=, &ep] {
              const auto old = through(ep, at);
              if (!old) [[unlikely]]
                require(old.status(), "atomic");
              use(*old);
            });
          },
          [=](std::uint64_t turns) { repeat(turns, [=] { use(direct(std::atomic_ref<Word>(*place))); }); }};
}

Pair pair_for(const std::string& operation, Endpoint& ep, GlobalPtr<Word> at, Word* place) {
  using Cell = std::atomic_ref<Word>;
  const auto make = [&](auto through, auto direct) { return pair_of(ep, at, place, through, direct); };
  if (operation == "xor") {
    return make([](auto& e, auto p) { return fetch_xor(e, p, 5); }, [](Cell c) { return c.fetch_xor(5); });
  }
  if (operation == "min") {
    return make([](auto& e, auto p) { return fetch_min(e, p, 5); },
                [](Cell c) {  // the processor has none: the loop that everybody writes
                  Word seen = c.load();
                  while (Word{5} < seen && !c.compare_exchange_weak(seen, 5)) {
                  }
                  return seen;
                });
  }
  if (operation == "swap") {
    return make([](auto& e, auto p) { return swap(e, p, 5); }, [](Cell c) { return c.exchange(5); });
  }
  if (operation == "compare_swap") {
    return make([](auto& e, auto p) { return compare_swap(e, p, 0, 5); },
                [](Cell c) {
                  Word expected = 0;
                  c.compare_exchange_strong(expected, 5);
                  return expected;
                });
  }
  if (operation == "load") {
    return make([](auto& e, auto p) { return load(e, p); }, [](Cell c) { return c.load(); });
  }
  if (operation == "store") {
    return make(
        [](auto& e, auto p) {
          const Status status = store(e, p, 5);
          return status ? Result<Word>(Word{5}) : Result<Word>(status);
        },
        [](Cell c) {
          c.store(5);
          return Word{5};
        });
  }
  return make([](auto& e, auto p) { return fetch_add(e, p, 1); }, [](Cell c) { return c.fetch_add(1); });
}

}  // namespace

void atomic_latency(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  const Role role = session.pair();
  Word* place = nullptr;
  Subject subject{[](std::uint64_t) {}, role.active};
  Raw raw{std::nullopt, "none: the peer's memory is not mapped here"};
  if (role.active) {
    const auto at = session.target(role.peer).as<Word>();
    place = session.ep().local(at);
    Pair pair = pair_for(options.operation, session.ep(), at, place);
    subject.run = std::move(pair.measured);
    raw.subject = Subject{std::move(pair.raw), true};
  } else {
    raw.subject = subject;
  }
  if (session.everyone(!role.active || place != nullptr)) {
    raw.what = "the processor's own instruction";
  } else {
    raw.subject.reset();
  }
  reporter.add(measure(session, options.bench, sizeof(Word), {}, subject, raw));
}

}  // namespace aqueduct::perf
