#include "tools/aqperf/am_limits.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/patience.hpp"
#include "tools/aqperf/raw_sockets.hpp"
#include "tools/aqperf/sampler.hpp"

#include <memory>

namespace aqueduct::perf {

namespace {

/// Chosen: the answer that ends a train of messages is then 1 % of it.
constexpr std::uint64_t kTrain = 1000;

struct Position {
  std::uint64_t left = 0;  // in this train, after this message
};

/// What one rank's handlers have seen. The last message of a train is answered, so a sender knows that all
/// were handled, in whatever order they came.
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

  std::uint64_t expected = 0;  // messages, of all sizes, that this rank has waited for
  for (const std::size_t bytes : options.bytes.value_or(ByteRange{0, 0}).sizes()) {
    require_medium(session, role.peer, bytes);
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
            require(payload.empty() ? request(ep, role.peer, bare, Position{left})
                                    : request(ep, role.peer, loaded, Position{left}, payload),
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
    if (over_sockets(session, role)) {
      raw = raw_flood(session, role, {.bytes = bytes, .operations = kTrain, .one_datagram_each = true});
    }
    reporter.add(measure(session, options.bench, bytes, {Unit::Kind::million_per_second, 0},
                         {run, role.active, static_cast<double>(kTrain)}, raw));
  }
}

}  // namespace aqueduct::perf
