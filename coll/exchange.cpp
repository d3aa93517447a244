#include "coll/exchange.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/schedule/tree.hpp"
#include "coll/wire.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::Incoming;
using aqueduct::detail::TeamState;

Tree tree_of(const TeamState& team) noexcept {
  const Rank size = team.size();
  return size <= Exchanges::kFlat ? Tree::flat(size) : Tree{Tree::Kind::k_nomial, Exchanges::kRadix, size};
}

/// Whether it is the loss of a member, of which all members learn.
bool tells_loss(const TeamState& team, Status status) noexcept {
  return status.code() == ErrorCode::peer_lost && team.find(status.peer()) != kNoRank;
}

}  // namespace

Exchanges::Exchanges(aqueduct::detail::EndpointState& state)
    : state_(state), streams_of_(state.ranks), dropped_(state.ranks) {
  auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes payload) {
    ExchangePiece piece;
    std::memcpy(&piece, args, sizeof piece);
    static_cast<Exchanges*>(self)->take(in.source, piece, payload);
  };
  state.messages->add_internal(kExchange, AmCategory::medium_request, sizeof(ExchangePiece),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

// Runs inside a handler, which must not throw.
void Exchanges::take(Rank from, const ExchangePiece& piece, core::Bytes payload) noexcept try {
  keep(from, piece, payload);
} catch (const std::bad_alloc&) {
  const StreamKey key{piece.team, piece.number, piece.round, from};
  const auto stream = streams_.find(key);
  if (stream != streams_.end())
    stream->second.problem = {ErrorCode::no_memory, state_.rank};
  else
    dropped_.add(key);
}

void Exchanges::keep(Rank from, const ExchangePiece& piece, core::Bytes payload) {
  const StreamKey key{piece.team, piece.number, piece.round, from};
  if (!streams_.contains(key)) {
    if (is_late(piece)) return;
    if (streams_of_[from] >= kMostStreamsOfPeer) drop_one_of(from);
  }
  Stream& stream = stream_of(key);
  if (piece.code != 0) {
    stream.problem = {code_from(piece.code), static_cast<Rank>(piece.at)};
    return;
  }
  if (piece.total == 0) {
    stream.agrees = true;
    return;
  }
  const std::uint64_t most = std::uint64_t{state_.ranks} * (kMostOfOne + Contributions::kHead);
  if (piece.total > most || !stream.pieces.add(piece.at, piece.total, payload)) {
    ++state_.statistics.rejected;
    stream.problem = {ErrorCode::internal, from};
  }
}

Exchanges::Stream& Exchanges::stream_of(const StreamKey& key) {
  const auto [at, is_new] = streams_.try_emplace(key);
  if (is_new) {
    at->second.begun = ++begun_;
    ++streams_of_[std::get<3>(key)];
  }
  return at->second;
}

Exchanges::UnderWay* Exchanges::find(std::uint64_t team, std::uint64_t number) const noexcept {
  UnderWay* one = under_way_;
  while (one != nullptr && !(one->team == team && one->number == number)) one = one->next;
  return one;
}

bool Exchanges::is_late(const ExchangePiece& piece) const noexcept {
  TeamState* const team = state_.barriers->find(piece.team);
  return team != nullptr && piece.number <= barrier_of(*team)->exchanges &&
         !is_under_way(piece.team, piece.number);
}

void Exchanges::drop_one_of(Rank sender) noexcept {
  auto oldest = streams_.end();
  for (auto at = streams_.begin(); at != streams_.end(); ++at) {
    const auto& [team, number, round, from] = at->first;
    if (from != sender || is_under_way(team, number)) continue;
    if (oldest == streams_.end() || at->second.begun < oldest->second.begun) oldest = at;
  }
  if (oldest == streams_.end()) return;
  ++state_.statistics.rejected;
  --streams_of_[sender];
  streams_.erase(oldest);
}

void Exchanges::forget(std::uint64_t team, std::uint64_t number) noexcept {
  dropped_.forget(team, number);
  for (auto at = streams_.lower_bound({team, 0, 0, 0}); at != streams_.end();) {
    const auto& [of, when, round, from] = at->first;
    if (of != team || when > number) break;
    --streams_of_[from];
    at = streams_.erase(at);
  }
}

Status Exchanges::send(const RoundId& id, Rank to, core::Bytes stream, Status problem) noexcept {
  if (!problem) return tell(id, to, problem);
  ExchangePiece piece{id.team.id, id.number, id.round, 0, 0, stream.size()};
  const std::size_t room = state_.messages->room(to, false, sizeof piece);
  for (; piece.at < stream.size(); piece.at += room) {
    const core::Bytes part = stream.subspan(piece.at, std::min(room, stream.size() - piece.at));
    const Status status = state_.messages->request(to, AmCategory::medium_request, kExchange,
                                                   {&piece, sizeof piece, 0}, nullptr, part, {});
    if (!status) return status;
  }
  return {};
}

Status Exchanges::tell(const RoundId& id, Rank to, Status problem) noexcept {
  const ExchangePiece piece{id.team.id,     id.number, id.round, static_cast<std::uint32_t>(problem.code()),
                            problem.peer(), 0};
  return state_.messages->request(to, AmCategory::medium_request, kExchange, {&piece, sizeof piece, 0},
                                  nullptr, {}, {});
}

Result<Exchanges::Stream*> Exchanges::wait_for(const RoundId& id, Rank from) noexcept {
  const StreamKey key{id.team.id, id.number, id.round, from};
  const auto found = [&]() -> Stream* {
    const auto at = streams_.find(key);
    return at != streams_.end() && at->second.is_over() ? &at->second : nullptr;
  };
  const UnderWay& here = *find(id.team.id, id.number);
  const auto over = [&] {
    return found() != nullptr || dropped_.has(key) || id.team.lost_member() != kNoRank || !here.given_up;
  };
  const Status status = core::wait_until(state_, over, from, [&] { return waits_for(id, from); });
  if (!status) return status;
  if (!here.given_up) return here.given_up;
  if (Stream* const stream = found()) return stream;
  if (const Status loss = id.team.loss(); !loss) return loss;
  dropped_.remove(key);
  return {ErrorCode::no_memory, state_.rank};
}

Status Exchanges::receive(const RoundId& id, Rank from, Blob& out) noexcept try {
  const auto stream = wait_for(id, from);
  if (!stream) return stream.status();
  if ((*stream)->problem && !(*stream)->agrees) out = (*stream)->pieces.take();
  return (*stream)->problem;
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, state_.rank};
}

Status Exchanges::hear(const RoundId& id, Rank from) noexcept {
  const auto stream = wait_for(id, from);
  if (!stream) return stream.status();
  if (!(*stream)->problem || (*stream)->agrees) return (*stream)->problem;
  return {ErrorCode::mismatch, from};
}

std::string Exchanges::waits_for(const RoundId& id, Rank from) const {
  std::string text = fmt::format("round {} of a set-up exchange, from rank {}", id.round, from);
  if (id.team.name == 0) return text;
  text += fmt::format(", to create a team of {} ranks with tag {}", id.team.size(), id.team.tag);
  for (const auto& [key, stream] : streams_) {
    const std::uint64_t team = std::get<0>(key);
    if (std::get<3>(key) != from || team == id.team.id || state_.barriers->find(team) != nullptr) continue;
    return text +
           " (that rank uses a team that this rank does not have: compare the ranks and tags that both give)";
  }
  return text;
}

Result<Contributions> Exchanges::exchange(TeamState& team, SetUp call, std::span<const std::byte> mine,
                                          Status problem) noexcept {
  if (barrier_of(team) == nullptr) return ErrorCode::closed;
  return exchange_as(Turn::first, team, barrier_of(team)->exchanges, mine, problem, call);
}

Result<Contributions> Exchanges::exchange(TeamState& team, std::uint64_t& exchanges,
                                          std::span<const std::byte> mine, Status problem) noexcept {
  return exchange_as(Turn::later, team, exchanges, mine, problem, SetUp::none);
}

template <class What>
Status Exchanges::as_exchange(Turn turn, TeamState& team, std::uint64_t& exchanges,
                              const What& what) noexcept {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  if (state_.must_not_wait()) return ErrorCode::in_handler;
  BarrierState* const barrier = barrier_of(team);
  for (;;) {
    const std::uint64_t number = number_of(turn, barrier, exchanges);
    if (number == 0) {
      forget(team.id, exchanges);
      return barrier->why_given_up;
    }
    UnderWay here{team.id, number, comes_after(turn, barrier), under_way_};
    under_way_ = &here;
    const Status status = what(number);
    // Others may have begun meanwhile, by other threads.
    UnderWay** at = &under_way_;
    while (*at != &here) at = &(*at)->next;
    *at = here.next;
    forget(team.id, number);
    if (here.given_up || tells_loss(team, status)) return status;
    if (here.comes_after) continue;
    leave_given_up(*barrier);
    return here.given_up;
  }
}

Result<Contributions> Exchanges::exchange_as(Turn turn, TeamState& team, std::uint64_t& exchanges,
                                             std::span<const std::byte> mine, Status problem,
                                             SetUp call) noexcept {
  if (problem && mine.size() > kMostOfOne) problem = {ErrorCode::too_large};
  if (!problem && problem.peer() == kNoRank) problem = {problem.code(), state_.rank};
  Contributions all;
  const Status broken = as_exchange(turn, team, exchanges, [&](std::uint64_t number) {
    all = {};
    return gather(team, number, all, mine, problem, call);
  });
  if (!broken) return broken;
  if (turn == Turn::first) {
    if (const Status same = same_call(team, all); !same) return same;
  }
  if (const Status first = all.first_problem(); !first) return first;
  return all;
}

Status Exchanges::agree(TeamState& team, Status mine) noexcept {
  BarrierState* const barrier = barrier_of(team);
  if (barrier == nullptr) return ErrorCode::closed;
  if (!mine && mine.peer() == kNoRank) mine = {mine.code(), state_.rank};
  return as_exchange(Turn::later, team, barrier->exchanges,
                     [&](std::uint64_t number) { return gather_problems(team, number, mine); });
}

Status Exchanges::gather(TeamState& team, std::uint64_t number, Contributions& all,
                         std::span<const std::byte> mine, Status problem, SetUp call) noexcept {
  const Tree tree = tree_of(team);
  const Rank me = team.index;
  const std::uint32_t children = tree.children(me);
  // In rising order: what comes from the children in turn is in team order.
  const auto child = [&](std::uint32_t i) { return tree.child(me, children - 1 - i); };
  // A failure on the way. This member still takes part, and sends the failure in place of bytes, because others wait for its
  // messages. After a loss it waits for nobody: the rank that it would wait for may be lost, too.
  Status broken;
  const auto carefully = [&](const auto& step) noexcept {
    if (tells_loss(team, broken)) return;
    try {
      const Status status = step();
      if (broken || tells_loss(team, status)) broken = status;
    } catch (const std::bad_alloc&) {
      if (broken) broken = {ErrorCode::no_memory, state_.rank};
    }
  };
  const auto receive_from = [&](Rank from, ExchangeRound round, const auto& use) {
    carefully([&]() -> Status {
      Blob stream;
      const Status received = receive({team, number, round}, team.members[from], stream);
      if (!received || !broken) return received;
      return use(stream) ? Status{} : Status(ErrorCode::internal, team.members[from]);
    });
  };
  carefully([&]() -> Status {
    all.add(mine, problem, static_cast<std::uint8_t>(call));
    return {};
  });
  for (std::uint32_t i = 0; i < children; ++i)
    receive_from(child(i), kUp, [&](Blob& stream) {
      const Rank members = tree.subtree(child(i));
      return stream.empty() ? all.add_nothing(members) : all.add(stream, members);
    });
  if (is_given_up(team.id, number)) return broken;
  if (me != 0) {
    const Rank parent = tree.parent(me);
    const Status sent = send({team, number, kUp}, team.members[parent], all.stream(), broken);
    if (!sent && broken) broken = sent;
    receive_from(parent, kDown, [&](Blob& stream) {
      if (!stream.empty()) return all.take(std::move(stream), team.size());
      all = {};
      return all.add_nothing(team.size());
    });
  }
  if (is_given_up(team.id, number)) return broken;
  const Status down = broken;
  for (std::uint32_t i = 0; i < children; ++i) {
    const Status sent = send({team, number, kDown}, team.members[child(i)], all.stream(), down);
    if (!sent && broken) broken = sent;
  }
  return broken;
}

Status Exchanges::gather_problems(TeamState& team, std::uint64_t number, Status mine) noexcept {
  const Tree tree = tree_of(team);
  const Rank me = team.index;
  const std::uint32_t children = tree.children(me);
  const auto child = [&](std::uint32_t i) { return team.members[tree.child(me, children - 1 - i)]; };
  Status first = mine;
  bool lost = false;
  const auto note = [&](Status status) {
    const bool is_loss = tells_loss(team, status);
    if (first || (is_loss && !lost)) first = status;
    lost = lost || is_loss;
  };
  if (me != 0) {
    try {  // afterwards the answer needs no memory
      stream_of({team.id, number, kDown, team.members[tree.parent(me)]});
    } catch (const std::bad_alloc&) {
      note({ErrorCode::no_memory, state_.rank});
    }
  }
  for (std::uint32_t i = 0; i < children && !lost; ++i) note(hear({team, number, kUp}, child(i)));
  if (is_given_up(team.id, number)) return first;
  if (me != 0) {
    const Rank parent = team.members[tree.parent(me)];
    if (const Status told = tell({team, number, kUp}, parent, first); !told) note(told);
    if (!lost) first = hear({team, number, kDown}, parent);
  }
  if (is_given_up(team.id, number)) return first;
  const Status answer = first;
  for (std::uint32_t i = 0; i < children; ++i) {
    const auto up = streams_.find({team.id, number, kUp, child(i)});
    const bool exchanges = up != streams_.end() && up->second.pieces.whole();
    const Status told = tell({team, number, kDown}, child(i), exchanges ? Status() : answer);
    if (!told) note(told);
  }
  return first;
}

}  // namespace aqueduct::coll
