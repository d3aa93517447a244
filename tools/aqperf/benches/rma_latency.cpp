#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/raw/raw_network.hpp"
#include "tools/aqperf/raw/raw_sockets.hpp"
#include "tools/aqperf/raw/raw_transfer.hpp"

namespace aqueduct::perf {

namespace {

/// Blocking transfers of one size; 8 bytes are passed as a value.
std::function<void(std::uint64_t)> transfers(Session& session, Rank peer, Direction direction,
                                             std::size_t bytes) {
  Endpoint* const ep = &session.ep();
  const auto there = session.target(peer);
  const auto word = there.as<std::uint64_t>();
  if (direction == Direction::get) {
    if (bytes == sizeof(std::uint64_t)) {
      return [=](std::uint64_t turns) {
        repeat(turns, [=] {
          const auto got = get_value(*ep, word);
          if (!got) [[unlikely]]
            require(got.status(), "get_value");
          use(*got);
        });
      };
    }
    return [=, to = session.buffer().data()](std::uint64_t turns) {
      repeat(turns, [=, size = unknown(bytes)] { require(get(*ep, std::span(to, size), there), "get"); });
    };
  }
  if (bytes == sizeof(std::uint64_t)) {
    return [=](std::uint64_t turns) {
      repeat(turns, [=, value = unknown(turns)] { require(put_value(*ep, word, value), "put_value"); });
    };
  }
  return [=, from = session.buffer().data()](std::uint64_t turns) {
    repeat(turns, [=, size = unknown(bytes)] { require(put(*ep, there, std::span(from, size)), "put"); });
  };
}

void latency(Session& session, Reporter& reporter, Direction direction) {
  const Options& options = session.options();
  const Role role = session.pair();
  const bool sockets = over_sockets(session, role);
  for (const std::size_t bytes : options.bytes.value_or(find_bench(options.bench)->bytes).sizes()) {
    Subject subject{[](std::uint64_t) {}, role.active};
    if (role.active) subject.run = transfers(session, role.peer, direction, bytes);
    // Over sockets one way carries the bytes, and the other way a word that confirms them.
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const auto kind = direction == Direction::put ? NetworkTurn::Kind::put : NetworkTurn::Kind::get;
    const auto network = raw_network(session, role, {.kind = kind, .bytes = bytes});
    const Raw raw = network                       ? *network
                    : !sockets                    ? raw_transfer(session, role, direction, bytes)
                    : direction == Direction::put ? raw_round_trip(session, role, bytes, kWord)
                                                  : raw_round_trip(session, role, kWord, bytes);
    Row row = measure(session, options.bench, bytes, {}, subject, raw);
    if (row.raw) row.extra.emplace_back("difference_ns", row.figure.median - *row.raw);
    reporter.add(row);
  }
}

}  // namespace

void put_latency(Session& session, Reporter& reporter) { latency(session, reporter, Direction::put); }
void get_latency(Session& session, Reporter& reporter) { latency(session, reporter, Direction::get); }

}  // namespace aqueduct::perf
