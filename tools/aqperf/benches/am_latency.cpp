#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/am_limits.hpp"
#include "tools/aqperf/raw/raw_cacheline.hpp"

#include <memory>

namespace aqueduct::perf {

namespace {

/// A message's argument, one word: a usual size.
struct Turn {
  std::uint64_t value = 0;
};

/// The handlers of one rank, and what they have received.
class Echo {
 public:
  explicit Echo(Endpoint& ep) : seen_(std::make_shared<Seen>()) {
    const auto seen = seen_;
    short_reply_ =
        require(on_short_reply<Turn>(ep, [seen](auto&, const Turn&) { ++seen->replies; }), "on_short_reply");
    short_request_ =
        require(on_short_request<Turn>(ep,
                                       [seen, reply = short_reply_](auto& context, const Turn& word) {
                                         ++seen->requests;
                                         seen->status = context.reply(reply, word);
                                       }),
                "on_short_request");
    medium_reply_ = require(on_medium_reply<Turn>(ep, [seen](auto&, const Turn&, auto) { ++seen->replies; }),
                            "on_medium_reply");
    medium_request_ = require(
        on_medium_request<Turn>(ep,
                                [seen, reply = medium_reply_](auto& context, const Turn& word, auto payload) {
                                  ++seen->requests;
                                  seen->status = context.reply(reply, word, payload);
                                }),
        "on_medium_request");
  }

  /// Sends a request and waits for its reply, `turns` times. 0 bytes of payload: a short message.
  void ask(Endpoint& ep, Rank peer, std::span<const std::byte> payload, const Patience& patience,
           std::uint64_t turns) {
    for (; turns > 0; --turns) {
      const std::uint64_t awaited = seen_->replies + 1;
      require(payload.empty() ? request(ep, peer, short_request_, Turn{turns})
                              : request(ep, peer, medium_request_, Turn{turns}, payload),
              "request");
      wait(ep, peer, patience, [&] { return seen_->replies >= awaited; });
    }
  }

  /// Answers `turns` more requests.
  void answer(Endpoint& ep, Rank peer, const Patience& patience, std::uint64_t turns) {
    answered_ += turns;
    wait(ep, peer, patience, [&] { return seen_->requests >= answered_; });
  }

 private:
  struct Seen {
    std::uint64_t requests = 0;
    std::uint64_t replies = 0;
    Status status;
  };

  template <class Condition>
  void wait(Endpoint& ep, Rank peer, const Patience& patience, Condition holds) {
    patience.until([&] {
      if (holds()) return true;
      if (ep.progress() == 0 && ep.is_lost(peer)) require(Status{ErrorCode::peer_lost, peer}, "a reply");
      return holds();
    });
    require(seen_->status, "reply");
  }

  std::shared_ptr<Seen> seen_;
  ShortReply<Turn> short_reply_;
  ShortRequest<Turn> short_request_;
  MediumReply<Turn> medium_reply_;
  MediumRequest<Turn> medium_request_;
  std::uint64_t answered_ = 0;
};

}  // namespace

void am_latency(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  auto& ep = session.ep();
  // Two ranks: one asks, one answers. More ranks: each asks its neighbour, and answers others while it waits.
  const Role role = session.ranks() == 2 ? session.pair() : session.ring();
  const bool answers_only = role.passive && !role.active;
  const Patience patience(session, Patience::kRounds);
  Echo echo(ep);
  const ByteRange range = options.bytes.value_or(ByteRange{0, 0});
  require_medium(session, role.peer, range.last);
  for (const std::size_t bytes : range.sizes()) {
    const auto payload = std::span<const std::byte>(session.buffer()).first(bytes);
    const auto run = [&](std::uint64_t turns) {
      if (answers_only) {
        echo.answer(ep, role.peer, patience, turns);
      } else {
        echo.ask(ep, role.peer, payload, patience, turns);
      }
    };
    reporter.add(measure(session, options.bench, bytes, {}, {run, role.active},
                         raw_answer(session, session.pair(), bytes)));
  }
}

}  // namespace aqueduct::perf
