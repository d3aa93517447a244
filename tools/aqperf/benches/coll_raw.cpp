// What collective calls are compared with.
//
// puts, a barrier or up to 64 B: half a round trip of a put with signal between disjoint pairs on the same cores, times
//     ceil(log2 P): the fewest rounds after which P ranks can know of one another, if each sends to one at a time.
// puts, more: each rank puts to each peer what the chosen schedule puts there in all (and gets likewise), at once, each
//     put with a signal. A turn is over when a rank's own puts are complete and it has all signals of the others. Bytes
//     and edges are those of the collective; nothing waits for what it passes on, nothing is copied or combined, and
//     ranks do not wait for one another's calls. So it is a limit, not a rival.
// raw on mapped memory: up to 48 B the round trip of a cache line; more: a memcpy of the larger buffer of a call, out of
//     memory that a peer has written in its turn before, and a flag that says that it has.

#include <aqueduct/rma.hpp>
#include <aqueduct/signal.hpp>

#include "tools/aqperf/benches/coll_edges.hpp"
#include "tools/aqperf/benches/coll_ground.hpp"
#include "tools/aqperf/raw/raw_cacheline.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"
#include "tools/aqperf/raw/raw_yield.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include <sched.h>

namespace aqueduct::perf {

namespace {

// Specified: up to so many bytes the raw measure is a round trip, of a cache line on mapped memory, of a put with signal
// on networks. Beyond, it is a copy or a transfer of the bytes.
constexpr std::size_t kMostOfALine = 48;
constexpr std::size_t kMostOfARoundTrip = 64;
constexpr SignalSlot kTurnSlot = 0;
constexpr SignalSlot kEdgeSlot = 1;

Subject half_round_trips(Session& session, const CollGround& ground, std::size_t bytes) {
  Endpoint* const ep = &session.ep();
  const Role role = session.pair();
  const auto turn = std::make_shared<std::uint64_t>(signal_value(*ep, kTurnSlot));
  const std::span<const std::byte> from = ground.here().first(std::max(bytes, sizeof(std::uint64_t)));
  const GlobalPtr<std::byte> to = ground.there(role.peer == kNoRank ? session.rank() : role.peer);
  const auto send = [=] { require(put_signal_nbi(*ep, to, from, {kTurnSlot, 1}), "put_signal_nbi"); };
  Subject subject;
  subject.run = [=](std::uint64_t turns) {
    for (; turns > 0 && role.peer != kNoRank; --turns) {
      if (role.active) send();
      require(wait_until(*ep, kTurnSlot, ++*turn, role.peer), "wait_until");
      if (!role.active) send();
    }
    require(ep->wait_implicit(), "wait_implicit");
  };
  subject.records = role.active;
  subject.operations = 2.0 / std::bit_width(session.ranks() - 1);
  return subject;
}

/// The puts and gets of one rank over the edges of a schedule.
class EdgePuts {
 public:
  EdgePuts(Session& session, const CollGround& ground, const coll::Choice& choice)
      : ep_(&session.ep()), here_(ground.here()), seen_(signal_value(session.ep(), kEdgeSlot)) {
    const Rank me = session.rank();
    const CollEdges own = edges_of(choice, me);
    // From the next rank on, so that not all begin with the same one.
    for (Rank step = 1; step < session.ranks(); ++step) {
      const Rank peer = (me + step) % session.ranks();
      add(puts_, ground, peer, me, own.puts[peer]);
      add(gets_, ground, peer, peer, own.gets[peer]);
      arrivals_ += pieces_of(edges_of(choice, peer).puts[me]);
    }
  }

  void turn() {
    for (const Piece& piece : puts_) {
      const std::span<const std::byte> from = here_.first(piece.bytes);
      require(put_signal_nbi(*ep_, piece.place, from, {kEdgeSlot, 1}), "put_signal_nbi");
    }
    for (const Piece& piece : gets_) require(get_nbi(*ep_, here_.first(piece.bytes), piece.place), "get_nbi");
    seen_ += arrivals_;
    require(wait_until(*ep_, kEdgeSlot, seen_), "wait_until");
    require(ep_->wait_implicit(), "wait_implicit");
  }

 private:
  struct Piece {
    GlobalPtr<std::byte> place;
    std::size_t bytes;
  };

  std::size_t pieces_of(std::uint64_t bytes) const noexcept {
    return static_cast<std::size_t>((bytes + here_.size() - 1) / here_.size());
  }
  /// `owner`: whose part of the memory at `peer` it is, as far as there is room for parts.
  void add(std::vector<Piece>& pieces, const CollGround& ground, Rank peer, Rank owner, std::uint64_t bytes) {
    for (; bytes > 0;) {
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, here_.size()));
      const std::uint64_t offset = std::min<std::uint64_t>(owner * now, here_.size() - now);
      pieces.push_back({ground.there(peer, offset), now});
      bytes -= now;
    }
  }

  Endpoint* ep_;
  std::span<std::byte> here_;
  std::vector<Piece> puts_;
  std::vector<Piece> gets_;
  std::uint64_t arrivals_ = 0;  ///< of a turn
  std::uint64_t seen_;
};

Raw of_puts(Session& session, CollGround& ground, std::size_t bytes) {
  if (bytes <= kMostOfARoundTrip) {
    return {half_round_trips(session, ground, bytes),
            "half round trips of a put with signal, as many as log2 of the ranks"};
  }
  const coll::Choice choice = ground.choice(bytes);
  if (choice.algorithm == nullptr) return {std::nullopt, "none: no algorithm can do it"};
  const auto puts = std::make_shared<EdgePuts>(session, ground, choice);
  const auto run = [puts](std::uint64_t turns) {
    for (; turns > 0; --turns) puts->turn();
  };
  return {Subject{run}, "puts of the same bytes between the same ranks, all at once"};
}

Raw of_copies(Session& session, CollGround& ground, std::size_t bytes) {
  const std::size_t sum = ground.buffer_bytes(bytes);
  const Rank peer = (session.rank() + session.ranks() - 1) % session.ranks();
  std::byte* const mine = ground.mine().data();
  const std::byte* const theirs = session.ep().local(ground.there(peer), 2 * sum);
  if (!session.everyone(theirs != nullptr))
    return {std::nullopt, "none: the peer's memory is not mapped here"};
  const Rank reader = (session.rank() + 1) % session.ranks();
  const auto done = [&](Rank rank) { return session.ep().local(session.line(rank, Session::Line::copies)); };
  std::uint64_t *const my_turns = done(session.rank()), *const peers_turns = done(peer),
                       *const readers_turns = done(reader);
  // All ranks have made as many turns before.
  const auto turn = std::make_shared<std::uint64_t>(*my_turns);
  const bool yields = session.crowded();
  const auto run = [=](std::uint64_t turns) {
    const auto wait_for_turn = [&](std::uint64_t& of) {
      while (std::atomic_ref(of).load(std::memory_order_acquire) < *turn) {
        if (yields) ::sched_yield();
      }
    };
    for (; turns > 0; --turns) {
      wait_for_turn(*peers_turns);    // the peer has written what is read now
      wait_for_turn(*readers_turns);  // and what is overwritten has been read
      ++*turn;
      raw_copy(mine + *turn % 2 * sum, theirs + (*turn + 1) % 2 * sum, sum);
      std::atomic_ref(*my_turns).store(*turn, std::memory_order_release);
    }
  };
  return {Subject{run}, "memcpy of what a peer has written in its turn before"};
}

}  // namespace

Raw raw_coll(Session& session, CollGround& ground, std::size_t bytes) {
  if (session.ranks() == 1) return {std::nullopt, "none: there is one rank"};
  const Rank next = (session.rank() + 1) % session.ranks();
  const bool mapped = session.everyone(session.ep().local(ground.there(next)) != nullptr);
  if (!mapped || session.options().vs_puts) return of_puts(session, ground, bytes);
  if (bytes > kMostOfALine) return of_copies(session, ground, bytes);
  return session.everyone(!session.crowded()) ? raw_cacheline(session, session.pair()) : raw_yield(session);
}

}  // namespace aqueduct::perf
