#include "coll/exchange.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
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

}  // namespace

Exchanges::Exchanges(aqueduct::detail::EndpointState& state)
    : state_(state), streams_of_(state.ranks), dropped_of_(state.ranks) {
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
  dropped_of_[from] = true;
}

void Exchanges::keep(Rank from, const ExchangePiece& piece, core::Bytes payload) {
  const StreamKey key{piece.team, piece.number, piece.round, from};
  auto found = streams_.find(key);
  if (found == streams_.end()) {
    if (is_late(piece)) return;
    if (streams_of_[from] == kMostStreamsOfPeer) drop_one_of(from);
    found = streams_.emplace(key, Stream{}).first;
    found->second.begun = ++begun_;
    ++streams_of_[from];
  }
  Stream& stream = found->second;
  if (piece.code != 0) {
    stream.problem = {code_from(piece.code), static_cast<Rank>(piece.at)};
    return;
  }
  const std::uint64_t most = std::uint64_t{state_.ranks} * (kMostOfOne + Contributions::kHead);
  if (piece.total > most || !stream.pieces.add(piece.at, piece.total, payload)) {
    ++state_.statistics.rejected;
    stream.problem = {ErrorCode::internal, from};
  }
}

bool Exchanges::is_under_way(std::uint64_t team, std::uint64_t number) const noexcept {
  const UnderWay* one = under_way_;
  while (one != nullptr && !(one->team == team && one->number == number)) one = one->next;
  return one != nullptr;
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
  for (auto at = streams_.lower_bound({team, 0, 0, 0}); at != streams_.end();) {
    const auto& [of, when, round, from] = at->first;
    if (of != team || when > number) break;
    --streams_of_[from];
    at = streams_.erase(at);
  }
}

Status Exchanges::send(const RoundId& id, Rank to, core::Bytes stream, Status problem) noexcept {
  ExchangePiece piece{id.team.id, id.number, id.round, 0, 0, stream.size()};
  const auto request = [&](core::Bytes part) {
    return state_.messages->request(to, AmCategory::medium_request, kExchange, {&piece, sizeof piece, 0},
                                    nullptr, part, {});
  };
  if (!problem) {
    piece.code = static_cast<std::uint32_t>(problem.code());
    piece.at = problem.peer();
    return request({});
  }
  const std::size_t room = state_.messages->room(to, false, sizeof piece);
  for (; piece.at < stream.size(); piece.at += room) {
    const Status status = request(stream.subspan(piece.at, std::min(room, stream.size() - piece.at)));
    if (!status) return status;
  }
  return {};
}

Status Exchanges::receive(const RoundId& id, Rank from, Blob& out) noexcept try {
  const StreamKey key{id.team.id, id.number, id.round, from};
  const auto over = [&] {
    const auto at = streams_.find(key);
    if (at != streams_.end() && (at->second.pieces.whole() || !at->second.problem)) return true;
    return dropped_of_[from] || id.team.lost_member() != kNoRank;
  };
  const Status status = core::wait_until(state_, over, from, [&] { return waits_for(id, from); });
  if (!status) return status;
  const auto at = streams_.find(key);
  if (at == streams_.end() || !(at->second.pieces.whole() || !at->second.problem)) {
    if (const Rank gone = id.team.lost_member(); gone != kNoRank) return {ErrorCode::peer_lost, gone};
    dropped_of_[from] = false;
    return {ErrorCode::no_memory, state_.rank};
  }
  const Status problem = at->second.problem;
  if (problem) out = at->second.pieces.take();
  return problem;
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, state_.rank};
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

Result<Contributions> Exchanges::exchange(TeamState& team, std::span<const std::byte> mine,
                                          Status problem) noexcept {
  if (barrier_of(team) == nullptr) return ErrorCode::closed;
  return exchange(team, barrier_of(team)->exchanges, mine, problem);
}

Result<Contributions> Exchanges::exchange(TeamState& team, std::uint64_t& exchanges,
                                          std::span<const std::byte> mine, Status problem) noexcept {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  if (state_.must_not_wait()) return ErrorCode::in_handler;
  const std::uint64_t number = ++exchanges;
  if (problem && mine.size() > kMostOfOne) problem = {ErrorCode::too_large};
  if (!problem && problem.peer() == kNoRank) problem = {problem.code(), state_.rank};
  Contributions all;
  UnderWay here{team.id, number, under_way_};
  under_way_ = &here;
  const Status broken = gather(team, number, all, mine, problem);
  // Others may have begun meanwhile, by other threads.
  UnderWay** at = &under_way_;
  while (*at != &here) at = &(*at)->next;
  *at = here.next;
  forget(team.id, number);
  if (!broken) return broken;
  if (const Status first = all.first_problem(); !first) return first;
  return all;
}

Status Exchanges::gather(TeamState& team, std::uint64_t number, Contributions& all,
                         std::span<const std::byte> mine, Status problem) noexcept {
  const Rank size = team.size();
  const Tree tree = size <= kFlat ? Tree::flat(size) : Tree{Tree::Kind::k_nomial, kRadix, size};
  const Rank me = team.index;
  const std::uint32_t children = tree.children(me);
  // In rising order: what comes from the children in turn is in team order.
  const auto child = [&](std::uint32_t i) { return tree.child(me, children - 1 - i); };
  // A failure on the way. This member still takes part, and sends the failure in place of bytes, because others wait for its
  // messages. After a loss it waits for nobody: the rank that it would wait for may be lost, too.
  Status broken;
  const auto carefully = [&](const auto& step) noexcept {
    if (broken.code() == ErrorCode::peer_lost) return;
    try {
      const Status status = step();
      if (broken || status.code() == ErrorCode::peer_lost) broken = status;
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
    all.add(mine, problem);
    return {};
  });
  for (std::uint32_t i = 0; i < children; ++i)
    receive_from(child(i), kUp, [&](Blob& stream) { return all.add(stream, tree.subtree(child(i))); });
  if (me != 0) {
    const Rank parent = tree.parent(me);
    const Status sent = send({team, number, kUp}, team.members[parent], all.stream(), broken);
    if (!sent && broken) broken = sent;
    receive_from(parent, kDown, [&](Blob& stream) { return all.take(std::move(stream), team.size()); });
  }
  const Status down = broken;
  for (std::uint32_t i = 0; i < children; ++i) {
    const Status sent = send({team, number, kDown}, team.members[child(i)], all.stream(), down);
    if (!sent && broken) broken = sent;
  }
  return broken;
}

Status Exchanges::agree(TeamState& team, Status mine) noexcept { return exchange(team, {}, mine).status(); }

}  // namespace aqueduct::coll
