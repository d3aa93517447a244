#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/raw/raw_network.hpp"
#include "tools/aqperf/raw/raw_sockets.hpp"
#include "tools/aqperf/raw/raw_transfer.hpp"

#include <algorithm>
#include <vector>

namespace aqueduct::perf {

namespace {

/// Chosen: enough for any network here, while a window remains short compared with the time of a row.
constexpr std::size_t kMostInFlight = std::size_t{16} << 20;

/// One side of a flood: whether it sends, to which ranks, how much at once.
struct Flood {
  bool active = false;
  std::vector<Rank> peers;
  std::size_t bytes = 0;
  std::size_t window = 1;
  Direction direction = Direction::put;
};

Flood flood_of(const Session& session, Direction direction, std::size_t bytes) {
  const Options& options = session.options();
  const Rank others = std::max<Rank>(1, session.ranks() - 1);
  if (options.peers > others) {
    throw Failure("--peers " + std::to_string(options.peers) + ": there are only " + std::to_string(others) +
                      " other ranks; start more ranks or give fewer peers",
                  kUsageError);
  }
  const Role pair = session.pair();
  Flood flood{options.bidirectional || pair.active, {}, bytes, 1, direction};
  flood.window = std::clamp<std::size_t>(kMostInFlight / bytes, 1, options.window);
  if (options.peers == 1 && pair.peer != kNoRank) {
    flood.peers = {pair.peer};
  } else {
    for (Rank step = 1; step <= options.peers; ++step) {
      flood.peers.push_back((session.rank() + step) % session.ranks());
    }
  }
  return flood;
}

/// Begins a window of operations, to one peer after the other, then waits for all of them.
///
/// `begin(peer's index, turn)` begins one operation, `finish()` waits for those of the window. Both keep `memory`
/// alive and access it through plain pointers, which stay in registers during a window.
template <class Begin, class Finish>
std::function<void(std::uint64_t)> windows(const Flood& flood, std::shared_ptr<void> memory, Begin begin,
                                           Finish finish) {
  if (!flood.active) return [](std::uint64_t) {};
  return [=, memory = std::move(memory), peers = flood.peers.size(),
          window = flood.window](std::uint64_t turns) {
    const auto begin_one = begin;  // copies, because what a closure refers to is loaded again in each turn
    const auto last = window, wrap = peers;
    for (; turns > 0; --turns) {
      std::size_t peer = 0;
      for (std::size_t turn = 0; turn < last; ++turn) {
        begin_one(peer, turn);
        settle();
        if (++peer == wrap) peer = 0;
      }
      finish();
    }
  };
}

/// The same for one target, which stays in a register, or several, which are looked up.
template <class Target, class Begin, class Finish>
std::function<void(std::uint64_t)> windows(const Flood& flood, std::vector<Target> targets, Begin begin,
                                           Finish finish) {
  if (targets.size() == 1) {
    return windows(
        flood, nullptr, [=, to = targets.front()](std::size_t, std::size_t turn) { begin(to, turn); },
        finish);
  }
  const auto memory = std::make_shared<std::vector<Target>>(std::move(targets));
  const Target* const several = memory->data();
  return windows(
      flood, memory, [=](std::size_t peer, std::size_t turn) { begin(several[peer], turn); }, finish);
}

/// Whether transfers are single words, passed as values.
bool has_words(const Flood& flood) {
  return flood.bytes == sizeof(std::uint64_t) && flood.direction == Direction::put;
}

Subject measured(Session& session, const Flood& flood) {
  using Target = GlobalPtr<std::byte>;
  Endpoint* const ep = &session.ep();
  std::vector<Target> targets;
  for (Rank peer : flood.peers) targets.push_back(session.target(peer));
  const std::span<std::byte> here = session.buffer().first(unknown(flood.bytes));
  const auto finish = [ep] { require(ep->wait_implicit(), "wait_implicit"); };
  const auto put = [=](Target to, std::size_t) { require(put_nbi(*ep, to, here), "put_nbi"); };
  const auto get = [=](Target from, std::size_t) { require(get_nbi(*ep, here, from), "get_nbi"); };
  const auto put_word = [=](Target to, std::size_t turn) {
    require(put_value_nbi(*ep, to.as<std::uint64_t>(), turn), "put_value_nbi");
  };
  Subject subject{{}, flood.active, static_cast<double>(flood.window)};
  subject.run = has_words(flood)                    ? windows(flood, targets, put_word, finish)
                : flood.direction == Direction::put ? windows(flood, targets, put, finish)
                                                    : windows(flood, targets, get, finish);
  return subject;
}

/// The same windows over plain sockets.
Raw sockets_raw(Session& session, const Flood& flood, Unit::Kind kind) {
  const Options& options = session.options();
  if (options.bidirectional || options.peers > 1) {
    return {std::nullopt, "none: bare sockets are measured between pairs, in one direction"};
  }
  return raw_flood(session, session.pair(),
                   {.active_sends = flood.direction == Direction::put,
                    .bytes = flood.bytes,
                    .operations = flood.window,
                    .one_datagram_each = kind == Unit::Kind::million_per_second});
}

Raw raw(Session& session, const Flood& flood, Unit::Kind kind) {
  const auto way = flood.direction == Direction::put ? NetworkTurn::Kind::put : NetworkTurn::Kind::get;
  const NetworkTurn turn{.kind = way, .bytes = flood.bytes, .window = flood.window};
  if (auto network = raw_network(session, session.pair(), turn)) return *std::move(network);
  if (over_sockets(session, session.pair())) return sockets_raw(session, flood, kind);
  std::vector<std::byte*> places;
  for (Rank peer : flood.peers) places.push_back(session.ep().local(session.target(peer), flood.bytes));
  const bool mapped = std::count(places.begin(), places.end(), nullptr) == 0;
  if (!session.everyone(!flood.active || mapped)) {
    const Role role{flood.active, false, flood.peers.front()};  // one call at a time, to one peer
    return raw_transfer(session, role, flood.direction, flood.bytes);
  }
  std::byte* const here = session.buffer().data();
  const std::size_t bytes = unknown(flood.bytes);
  const auto finish = [] {};
  const auto put = [=](std::byte* to, std::size_t) { raw_copy(to, here, bytes); };
  const auto get = [=](std::byte* from, std::size_t) { raw_copy(here, from, bytes); };
  const auto put_word = [=](std::byte* to, std::size_t turn) {
    raw_store(reinterpret_cast<std::uint64_t*>(to), turn);
  };
  Subject subject{{}, flood.active, static_cast<double>(flood.window)};
  subject.run = has_words(flood)                    ? windows(flood, places, put_word, finish)
                : flood.direction == Direction::put ? windows(flood, places, put, finish)
                                                    : windows(flood, places, get, finish);
  return {std::move(subject), has_words(flood) ? "plain stores" : "memcpy between the same pages"};
}

void flood(Session& session, Reporter& reporter, Direction direction, Unit::Kind kind) {
  const Options& options = session.options();
  for (const std::size_t bytes : options.bytes.value_or(find_bench(options.bench)->bytes).sizes()) {
    const Flood flood = flood_of(session, direction, bytes);
    const Unit unit{kind, static_cast<double>(bytes)};
    reporter.add(
        measure(session, options.bench, bytes, unit, measured(session, flood), raw(session, flood, kind)));
  }
}

}  // namespace

void put_bandwidth(Session& session, Reporter& reporter) {
  flood(session, reporter, Direction::put, Unit::Kind::megabytes_per_second);
}
void get_bandwidth(Session& session, Reporter& reporter) {
  flood(session, reporter, Direction::get, Unit::Kind::megabytes_per_second);
}
void put_rate(Session& session, Reporter& reporter) {
  flood(session, reporter, Direction::put, Unit::Kind::million_per_second);
}

}  // namespace aqueduct::perf
