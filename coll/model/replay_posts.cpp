// The posts of a stepped replay: conventions 1, 5, 6 and 11 of loggp.hpp.

#include "coll/model/replay_stepped.hpp"

#include <utility>

namespace aqueduct::coll {

/// The processor is busy with a post. True: it takes no time.
bool ReplayStepped::begin_post(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
  if (reads(rank, step)) return begin_read(rank, looking, step, now);
  if (step.kind == Step::Kind::get) note_get();
  const std::uint64_t bytes = state_.in_pieces(step) ? step.bytes : step.all_bytes();
  const std::uint64_t sent = step.kind == Step::Kind::get ? 0 : bytes;
  const Picoseconds overhead = state_.ports.between(rank, step.peer, sent).overhead;
  const Picoseconds end =
      state_.work(rank, state_.out.members[rank].busy, now, overhead, Watcher::What::post, step.peer, bytes);
  if (end == now) return true;
  looking.posting = true;
  // What a member raises at others it has mostly waited for itself: by this number the cache is told what it will look at.
  push({.time = end, .rank = rank, .counter = step.raise, .kind = Kind::go_on, .call = looking.call});
  return false;
}

/// Convention 6 where members read one another's memory.
bool ReplayStepped::reads(Rank rank, const Brief& step) const noexcept {
  const Machine& machine = state_.machine;
  return step.kind == Step::Kind::get && machine.gets == Gets::reads &&
         machine.host_of(rank) == machine.host_of(step.peer);
}

bool ReplayStepped::begin_read(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
  const std::uint64_t bytes = step.all_bytes();
  const LogGP& link = state_.ports.between(rank, step.peer, bytes);
  const Picoseconds length = link.overhead + link.latency + link.bytes_time(bytes);
  const Picoseconds end =
      state_.work(rank, state_.out.members[rank].busy, now, length, Watcher::What::copy, step.peer, bytes);
  looking.posting = true;
  push({.time = end, .rank = rank, .kind = Kind::go_on});
  return false;  // it takes time: L is not 0
}

/// What the processor was busy with is over: hands over what was posted. False: it is busy with the next piece.
bool ReplayStepped::end_post(Rank rank, Looking& looking, Picoseconds now) {
  const std::uint8_t call = looking.call;
  if (std::exchange(looking.following, false)) {
    const Brief& signal = looking.signal;
    state_.ports.hand_over(
        rank, now, 0,
        {.rank = signal.peer, .counter = signal.raise, .add = signal.add, .kind = Kind::put, .call = call});
    return true;
  }
  Lane& lane = state_.lane(rank, looking.lane);
  const Brief& step = lane.step;
  if (step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce || reads(rank, step)) {
    over_at_once(rank, looking, lane, now);
    return true;
  }
  if (state_.in_pieces(step)) {
    do {
      hand_over_piece(rank, looking, step, now);
      if (++looking.piece == step.runs) {
        ReplayState::pass(lane);
        return true;
      }
    } while (begin_post(rank, looking, step, now));
    return false;
  }
  if (step.kind != Step::Kind::get && step.all_bytes() == 0) {
    hand_over_put(rank, looking, step, now);
    over_at_once(rank, looking, lane, now);
    return true;
  }
  ++calls_of(rank)[call].own;
  if (step.kind == Step::Kind::get) {
    state_.ports.hand_over(rank, now, 0,
                           {.bytes = step.all_bytes(),
                            .rank = step.peer,
                            .counter = step.done,
                            .kind = Kind::request,
                            .call = call});
  } else {
    hand_over_put(rank, looking, step, now);
  }
  ReplayState::pass(lane);
  return true;
}

/// A put or a signal in one message.
void ReplayStepped::hand_over_put(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
  const std::uint8_t call = looking.call;
  const std::uint64_t bytes = step.all_bytes();
  const Picoseconds left = state_.ports.hand_over(rank, now, bytes,
                                                  {.bytes = bytes,
                                                   .rank = step.peer,
                                                   .counter = step.raise,
                                                   .add = step.add,
                                                   .kind = Kind::put,
                                                   .call = call});
  if (bytes != 0) push({.time = left, .rank = rank, .counter = step.done, .kind = Kind::over, .call = call});
}

void ReplayStepped::hand_over_piece(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
  const std::uint8_t call = looking.call;
  if (looking.piece == 0) {
    looking.pieces.push_back({step.runs, step, call});
    ++calls_of(rank)[call].own;
  }
  ReplayEvent piece{.bytes = step.bytes,
                    .rank = step.peer,
                    .counter = static_cast<Counter>(looking.pieces.size() - 1),
                    .kind = Kind::piece,
                    .call = call};
  if (step.kind == Step::Kind::get) {
    piece.kind = Kind::request;
    piece.add = kGetInPieces;
  }
  state_.ports.hand_over(rank, now, piece.carried(), piece);
}

/// All pieces of a put are in place, as its member learns now: a signal follows. False: the processor is busy with it.
bool ReplayStepped::follow(Rank rank, Looking& looking, std::int32_t pieces, std::uint32_t call,
                           Picoseconds now) {
  const Brief& step = looking.pieces[static_cast<std::size_t>(pieces)].step;
  if (step.kind == Step::Kind::get) return true;
  looking.signal = step;
  looking.signal.kind = Step::Kind::signal;
  looking.signal.done = kNoCounter;
  looking.following = true;
  looking.call = static_cast<std::uint8_t>(call);
  return begin_post(rank, looking, looking.signal, now) && end_post(rank, looking, now);
}

}  // namespace aqueduct::coll
