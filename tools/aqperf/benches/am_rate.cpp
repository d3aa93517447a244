#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/measure/patience.hpp"
#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_sockets.hpp"
#include "tools/aqperf/report/smooth.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace aqueduct::perf {

namespace {

/// Messages in a train. Chosen: the answer that ends a train then takes 1 % of its time.
constexpr std::uint64_t kTrain = 1000;

/// Specified: the longest payload of an IPv4 datagram.
constexpr std::size_t kMostDatagram = 65'507;

struct Position {
  std::uint64_t left = 0;  // messages of this train that follow this one
};

/// What one rank's handlers have counted. A target answers every kTrain-th message that it handles, so a sender knows
/// that all of a train were handled, in whatever order they arrived.
struct Seen {
  std::uint64_t messages = 0;
  std::uint64_t trains = 0;
};

}  // namespace

void am_rate(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  auto& ep = session.ep();
  const Role role = session.pair();
  const Patience patience(session, Patience::kRounds);
  const auto seen = std::make_shared<Seen>();
  const auto status = std::make_shared<Status>();
  const auto handled =
      require(on_short_reply<NoArguments>(ep, [seen](auto&, const NoArguments&) { ++seen->trains; }),
              "on_short_reply");
  const auto count = [seen, status, handled](auto& context) {
    if (++seen->messages % kTrain == 0) *status = context.reply(handled);
  };
  const auto bare =
      require(on_short_request<Position>(ep, [count](auto& context, const Position&) { count(context); }),
              "on_short_request");
  const auto loaded = require(
      on_medium_request<Position>(ep, [count](auto& context, const Position&, auto) { count(context); }),
      "on_medium_request");

  const auto placed = require(
      on_long_request<Position>(ep, [count](auto& context, const Position&, auto) { count(context); }),
      "on_long_request");

  // A payload above the smallest medium limit of all pairs travels in long messages.
  const auto limits = session.exchange(role.peer == kNoRank ? SIZE_MAX : am_limits(ep, role.peer).medium);
  const std::size_t most_medium = *std::min_element(limits.begin(), limits.end());

  std::uint64_t expected = 0;  // messages of all sizes that this rank has waited for
  std::vector<RateAt> rates;
  for (const std::size_t bytes : options.bytes.value_or(ByteRange{0, 0}).sizes()) {
    const auto payload = std::span<const std::byte>(session.buffer()).first(bytes);
    const auto wait = [&, peer = role.peer](auto holds) {
      patience.until([&] {
        if (holds()) return true;
        if (ep.progress() == 0 && ep.is_lost(peer)) require(Status{ErrorCode::peer_lost, peer}, "a reply");
        return holds();
      });
      require(*status, "reply");
    };
    const auto run = [&](std::uint64_t trains) {
      if (role.active) {
        for (; trains > 0; --trains) {
          const std::uint64_t awaited = seen->trains + 1;
          for (std::uint64_t left = kTrain; left > 0;) {
            --left;
            const Position position{left};
            require(payload.empty() ? request(ep, role.peer, bare, position)
                    : bytes <= most_medium
                        ? request(ep, role.peer, loaded, position, payload)
                        : request(ep, placed, position, payload, session.target(role.peer)),
                    "request");
          }
          wait([&] { return seen->trains >= awaited; });
        }
      } else if (role.passive) {
        expected += trains * kTrain;
        wait([&] { return seen->messages >= expected; });
      }
    };
    Raw raw{std::nullopt, "none: the machine has nothing that runs a handler"};
    if (over_sockets(session, role) && bytes <= kMostDatagram) {
      raw = raw_flood(session, role, {.bytes = bytes, .operations = kTrain, .one_datagram_each = true});
    }
    const Row row = measure(session, options.bench, bytes, {Unit::Kind::million_per_second, 0},
                            {run, role.active, static_cast<double>(kTrain)}, raw);
    reporter.add(row);
    rates.push_back({bytes, row.figure.median});
  }
  reporter.say(smoothness_of(rates));
}

}  // namespace aqueduct::perf
