#include "coll/exchange.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
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

/// A member's contribution: bytes, or the reason why it has none.
struct Given {
  Status problem;
  Blob bytes;
};

/// Precedes a member's bytes in a stream.
struct GivenHead {
  std::uint64_t bytes;
  std::uint32_t code;
  Rank rank;  ///< the rank that has the problem
};

void append(Blob& stream, const Given& given) {
  const GivenHead head{given.bytes.size(), static_cast<std::uint32_t>(given.problem.code()),
                       given.problem.peer()};
  const auto* at = reinterpret_cast<const std::byte*>(&head);
  stream.insert(stream.end(), at, at + sizeof head);
  stream.insert(stream.end(), given.bytes.begin(), given.bytes.end());
}

/// A code that a peer has sent. A number that is no code becomes `internal`.
ErrorCode code_from(std::uint32_t number) noexcept {
  constexpr auto kLast = static_cast<std::uint32_t>(ErrorCode::internal);
  return static_cast<ErrorCode>(std::min(number, kLast));
}

/// Splits a stream into the members' contributions. False: its lengths do not add up.
bool split(std::span<const std::byte> stream, std::vector<Given>& out) {
  while (!stream.empty()) {
    GivenHead head;
    if (stream.size() < sizeof head) return false;
    std::memcpy(&head, stream.data(), sizeof head);
    stream = stream.subspan(sizeof head);
    if (head.bytes > stream.size()) return false;
    const auto bytes = stream.first(head.bytes);
    out.push_back({{code_from(head.code), head.rank}, Blob(bytes.begin(), bytes.end())});
    stream = stream.subspan(head.bytes);
  }
  return true;
}

}  // namespace

Exchanges::Exchanges(aqueduct::detail::EndpointState& state) : state_(state), streams_of_(state.ranks) {
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
  out_of_memory_ = true;
}

void Exchanges::keep(Rank from, const ExchangePiece& piece, core::Bytes payload) {
  const StreamKey key{piece.team, piece.number, piece.round, from};
  auto found = streams_.find(key);
  if (found == streams_.end()) {
    if (streams_of_[from] == kMostStreamsOfPeer) {
      ++state_.statistics.rejected;
      return;
    }
    found = streams_.emplace(key, Stream{}).first;
    ++streams_of_[from];
  }
  Stream& stream = found->second;
  if (piece.code != 0) {
    stream.problem = {code_from(piece.code), static_cast<Rank>(piece.at)};
    return;
  }
  const std::uint64_t most = std::uint64_t{state_.ranks} * (kMostOfOne + sizeof(GivenHead));
  if (piece.total > most || !stream.pieces.add(piece.at, piece.total, payload)) {
    ++state_.statistics.rejected;
    stream.problem = {ErrorCode::internal, from};
  }
}

void Exchanges::forget(const RoundId& id) noexcept {
  const auto end = streams_.lower_bound({id.team.id, id.number + 1, 0, 0});
  for (auto at = streams_.lower_bound({id.team.id, 0, 0, 0}); at != end;) {
    --streams_of_[std::get<kSender>(at->first)];
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
    return out_of_memory_ || id.team.lost_member() != kNoRank;
  };
  const Status status = core::wait_until(state_, over, from, [&] { return waits_for(id, from); });
  if (!status) return status;
  const auto at = streams_.find(key);
  if (at == streams_.end() || !(at->second.pieces.whole() || !at->second.problem)) {
    if (const Rank gone = id.team.lost_member(); gone != kNoRank) return {ErrorCode::peer_lost, gone};
    out_of_memory_ = false;
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
    if (std::get<kSender>(key) != from || team == id.team.id || state_.barriers->find(team) != nullptr)
      continue;
    return text +
           " (that rank uses a team that this rank does not have: compare the ranks and tags that both give)";
  }
  return text;
}

Result<std::vector<Blob>> Exchanges::exchange(TeamState& team, std::span<const std::byte> mine,
                                              Status problem) noexcept {
  if (barrier_of(team) == nullptr) return ErrorCode::closed;
  return exchange(team, barrier_of(team)->exchanges, mine, problem);
}

Result<std::vector<Blob>> Exchanges::exchange(TeamState& team, std::uint64_t& exchanges,
                                              std::span<const std::byte> mine, Status problem) noexcept try {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  if (state_.must_not_wait()) return ErrorCode::in_handler;
  struct Ending {
    Exchanges& all;
    RoundId id;
    ~Ending() { all.forget(id); }
  } ending{*this, {team, ++exchanges, 0}};
  RoundId& id = ending.id;
  const Rank size = team.size();
  if (problem && mine.size() > kMostOfOne) problem = {ErrorCode::too_large};
  if (!problem && problem.peer() == kNoRank) problem = {problem.code(), state_.rank};
  std::vector<Given> found;  // of this member, the next one in team order, …
  // A failure in the middle. This member then sends it instead of bytes: the others wait for its messages.
  Status broken;
  const auto carefully = [&](const auto& step) noexcept {
    try {
      if (broken) broken = step();
    } catch (const std::bad_alloc&) {
      broken = {ErrorCode::no_memory, state_.rank};
    }
  };
  carefully([&]() -> Status {
    found.reserve(size);
    found.push_back({problem, problem ? Blob(mine.begin(), mine.end()) : Blob{}});
    return {};
  });
  for (Rank distance = 1; distance < size; distance *= 2, ++id.round) {
    // This member has `distance` contributions. The member `distance` below it lacks the first of these: all, or in the
    // last round as many as are still missing.
    const Rank to = team.members[(team.index + size - distance) % size];
    const Rank from = team.members[(team.index + distance) % size];
    Blob stream;
    carefully([&]() -> Status {
      for (Rank i = 0; i < std::min(distance, size - distance); ++i) append(stream, found[i]);
      return {};
    });
    if (const Status sent = send(id, to, stream, broken); !sent && broken) broken = sent;
    stream.clear();
    const Status received = receive(id, from, stream);
    if (received.code() == ErrorCode::peer_lost || broken.code() == ErrorCode::peer_lost)
      return broken ? received : broken;
    if (!received && broken) broken = received;
    carefully([&]() -> Status {
      const bool right =
          split(stream, found) && found.size() == std::min(std::uint64_t{distance} * 2, std::uint64_t{size});
      return right ? Status{} : Status(ErrorCode::internal, from);
    });
  }
  if (!broken) return broken;
  std::rotate(found.begin(), found.begin() + ((size - team.index) % size), found.end());
  std::vector<Blob> all;
  all.reserve(size);
  for (Given& given : found) {
    if (!given.problem) return given.problem;
    all.push_back(std::move(given.bytes));
  }
  return all;
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, state_.rank};
}

Status Exchanges::agree(TeamState& team, Status mine) noexcept { return exchange(team, {}, mine).status(); }

}  // namespace aqueduct::coll
