#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"
#include "tools/aqperf/raw/raw_network.hpp"

#include <atomic>

namespace aqueduct::perf {

namespace {

using Word = std::uint64_t;
using Run = std::function<void(std::uint64_t)>;
template <AtomicOp op>
constexpr std::integral_constant<AtomicOp, op> kOp;

/// The same operation through the library and as the processor's instruction.
struct Pair {
  Run measured;
  Run raw;
};

/// `through` does the operation once with the library and returns a Result;
/// `direct` does it once on an atomic reference.
template <class Through, class Direct>
Pair pair_of(AtomicDomain<Word> domain, GlobalPtr<Word> at, Word* place, Through through, Direct direct) {
  return {[=](std::uint64_t turns) {
            repeat(turns, [=] {
              const auto old = through(domain, at);
              if (!old) [[unlikely]]
                require(old.status(), "atomic");
              use(*old);
            });
          },
          [=](std::uint64_t turns) { repeat(turns, [=] { use(direct(std::atomic_ref<Word>(*place))); }); }};
}

Pair pair_for(const std::string& operation, Endpoint& ep, GlobalPtr<Word> at, Word* place) {
  using Cell = std::atomic_ref<Word>;
  const auto make = [&](AtomicOp op, auto through, auto direct) {
    return pair_of(AtomicDomain<Word>(ep, {op}), at, place, through, direct);
  };
  // The operation is a compile-time constant, as in programs.
  const auto fetching = [&](auto op, auto direct) {
    return make(
        op, [op](auto& d, auto p) { return d.fetch(op, p, 5); }, direct);
  };
  if (operation == "xor") return fetching(kOp<AtomicOp::bit_xor>, [](Cell c) { return c.fetch_xor(5); });
  if (operation == "min") {
    return fetching(kOp<AtomicOp::min>,
                    [](Cell c) {  // processors have no such instruction: the usual compare-and-swap loop
                      Word seen = c.load();
                      while (Word{5} < seen && !c.compare_exchange_weak(seen, 5)) {
                      }
                      return seen;
                    });
  }
  if (operation == "swap") return fetching(kOp<AtomicOp::swap>, [](Cell c) { return c.exchange(5); });
  if (operation == "compare_swap") {
    return make(
        AtomicOp::compare_swap, [](auto& d, auto p) { return d.compare_swap(p, 0, 5); },
        [](Cell c) {
          Word expected = 0;
          c.compare_exchange_strong(expected, 5);
          return expected;
        });
  }
  if (operation == "load") return fetching(kOp<AtomicOp::load>, [](Cell c) { return c.load(); });
  if (operation == "store") {
    return make(
        AtomicOp::store,
        [](auto& d, auto p) {
          const Status status = d.store(p, 5);
          return status ? Result<Word>(Word{5}) : Result<Word>(status);
        },
        [](Cell c) {
          c.store(5);
          return Word{5};
        });
  }
  return fetching(kOp<AtomicOp::add>, [](Cell c) { return c.fetch_add(5); });
}

/// The processor's instruction if every active rank has its peer's memory mapped, else the network's own requests.
Raw raw_atomic(Session& session, Role role, bool mapped, Run instruction) {
  if (session.everyone(mapped))
    return {Subject{std::move(instruction), role.active}, "the processor's own instruction"};
  const NetworkTurn turn{.kind = NetworkTurn::Kind::atomic, .bytes = sizeof(Word)};
  const bool is_add = session.options().operation == "add";
  if (auto network = is_add ? raw_network(session, role, turn) : std::nullopt) return *std::move(network);
  return {std::nullopt, "none: the peer's memory is not mapped here"};
}

}  // namespace

void atomic_latency(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  const Role role = session.pair();
  Pair pair{[](std::uint64_t) {}, [](std::uint64_t) {}};
  bool mapped = true;
  if (role.active) {
    const auto at = session.target(role.peer).as<Word>();
    Word* const place = session.ep().local(at);
    mapped = place != nullptr;
    pair = pair_for(options.operation, session.ep(), at, place);
  }
  reporter.add(measure(session, options.bench, sizeof(Word), {}, {pair.measured, role.active},
                       raw_atomic(session, role, mapped, pair.raw)));
}

}  // namespace aqueduct::perf
