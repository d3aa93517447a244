#include "coll/exchange.hpp"

#include "am/messages.hpp"
#include "coll/wire.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::Incoming;
using aqueduct::detail::TeamState;

// A set-up message above this is a mistake or an attack, not a set-up message.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

void append(Blob& stream, std::span<const std::byte> blob) {
  const std::uint64_t bytes = blob.size();
  const auto* length = reinterpret_cast<const std::byte*>(&bytes);
  stream.insert(stream.end(), length, length + sizeof bytes);
  stream.insert(stream.end(), blob.begin(), blob.end());
}

/// Splits a stream into blobs. False: its lengths do not add up.
bool split(std::span<const std::byte> stream, std::vector<Blob>& out) {
  while (!stream.empty()) {
    std::uint64_t bytes = 0;
    if (stream.size() < sizeof bytes) return false;
    std::memcpy(&bytes, stream.data(), sizeof bytes);
    stream = stream.subspan(sizeof bytes);
    if (bytes > stream.size()) return false;
    out.emplace_back(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes));
    stream = stream.subspan(bytes);
  }
  return true;
}

}  // namespace

Exchanges::Exchanges(aqueduct::detail::EndpointState& state) : state_(state) {
  auto take = [](void* self, Incoming&, const std::byte* args, core::MutableBytes payload) {
    ExchangePiece piece;
    std::memcpy(&piece, args, sizeof piece);
    Stream& stream = static_cast<Exchanges*>(self)->streams_[{piece.team, piece.number, piece.round}];
    if (piece.total > kMostBytes || piece.at > piece.total || payload.size() > piece.total - piece.at) return;
    if (!stream.begun) stream.bytes.resize(piece.total);
    stream.begun = true;
    if (stream.bytes.size() != piece.total) return;
    std::copy(payload.begin(), payload.end(), stream.bytes.begin() + static_cast<std::ptrdiff_t>(piece.at));
    stream.arrived += payload.size();
  };
  state.messages->add_internal(kExchange, AmCategory::medium_request, sizeof(ExchangePiece),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

Result<std::vector<Blob>> Exchanges::exchange(TeamState& team, std::span<const std::byte> mine) {
  if (state_.in_child()) return ErrorCode::invalid_argument;
  if (state_.polling) return ErrorCode::in_handler;
  const std::uint64_t number = ++team.exchanges;
  const Rank size = team.size();
  std::vector<Blob> found;  // of me, me + 1, …
  found.emplace_back(mine.begin(), mine.end());
  std::uint32_t round = 0;
  for (Rank distance = 1; distance < size; distance *= 2, ++round) {
    // I have `distance` blobs; whoever is that far below me lacks the first so many of them.
    const Rank to = team.members[(team.index + size - distance) % size];
    const Rank from = team.members[(team.index + distance) % size];
    Blob out;
    for (Rank i = 0; i < std::min(distance, size - distance); ++i) append(out, found[i]);
    const std::size_t room = state_.messages->room(to, false, sizeof(ExchangePiece));
    for (std::size_t at = 0; at < out.size(); at += room) {
      const ExchangePiece piece{team.id, number, round, 0, at, out.size()};
      const std::span<const std::byte> part(out.data() + at, std::min(room, out.size() - at));
      const Status status = state_.messages->request(to, AmCategory::medium_request, kExchange,
                                                     {&piece, sizeof piece, 0}, nullptr, part, {});
      if (!status) return status;
    }
    const auto key = Key{team.id, number, round};
    const auto over = [&] {
      const auto at = streams_.find(key);
      if (at != streams_.end() && at->second.begun && at->second.arrived == at->second.bytes.size())
        return true;
      return team.lost_member() != kNoRank;
    };
    const Status status = core::wait_until(state_, over, from, [&] {
      return fmt::format("round {} of a set-up exchange, from rank {}", round, from);
    });
    if (!status) return status;
    if (const Rank gone = team.lost_member(); gone != kNoRank) return {ErrorCode::peer_lost, gone};
    const bool whole = split(streams_[key].bytes, found);
    streams_.erase(key);
    if (!whole) return {ErrorCode::internal, from};
  }
  if (found.size() != size) return ErrorCode::internal;
  std::rotate(found.begin(), found.begin() + ((size - team.index) % size), found.end());
  return found;
}

}  // namespace aqueduct::coll
