#include "conduits/ibv/ibv_vector.hpp"

#include <aqueduct/copy_bytes.hpp>

#include <algorithm>
#include <type_traits>

namespace aqueduct::conduits::ibv {
namespace {

constexpr core::Bytes plain(core::Bytes bytes) { return bytes; }
constexpr core::Bytes plain(core::MutableBytes bytes) { return bytes; }

BouncedTransfer transfer_of(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from) {
  return BouncedTransfer::put(peer, key, offset, from, {});
}
BouncedTransfer transfer_of(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to) {
  return BouncedTransfer::get(peer, key, offset, to, {});
}

void* place_of(core::Bytes) { return nullptr; }
void* place_of(core::MutableBytes bytes) { return bytes.data(); }

}  // namespace

// Local memory outside segments needs a bounce buffer or a registration, and a request can hold only one of them. So in
// the worst case there is a request for each piece of either list. Where siw would garble the piece (Sizes::garbled),
// there are two, one for each page.
struct Vector::Pieces {
  static constexpr std::size_t kMost = 8;  ///< chosen: pieces in either list

  struct One {
    ibv_send_wr request;
    std::array<ibv_sge, kMost> pieces;
  };
  std::array<One, 4 * kMost> all;
  std::size_t count = 0;
};

std::size_t Vector::most_local() const noexcept {
  return std::min<std::size_t>(Pieces::kMost, env_.sizes().pieces);
}
std::size_t Vector::most_remote() const noexcept { return Pieces::kMost; }

bool Vector::can() const noexcept {
  const std::size_t most = (env_.sizes().garbled > 0 ? 4 : 2) * Pieces::kMost;
  const bool room = env_.sizes().depth >= 2 * most && env_.sizes().queue >= 4 * most;
  return room && most_local() >= 2;
}

core::Post Vector::put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                              std::span<const core::Bytes> from, core::Token token) noexcept {
  return transfer_pieces(peer, key, to, from, IBV_WR_RDMA_WRITE, token);
}

core::Post Vector::get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                              std::span<const core::MutableBytes> to, core::Token token) noexcept {
  return transfer_pieces(peer, key, from, to, IBV_WR_RDMA_READ, token);
}

template <class Local>
core::Post Vector::transfer_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> remote,
                                   std::span<const Local> local, ibv_wr_opcode opcode,
                                   core::Token token) noexcept {
  const core::PieceLimits limits{most_remote(), most_local(), properties_.max_transfer};
  if (const ErrorCode why = core::check_pieces(remote, local, limits); why != ErrorCode::ok) {
    return core::Post::failed(why);
  }
  const Key& segment = memory_.remote(key);
  for (const core::RemotePiece& piece : remote) {
    if (!RemoteAccess::in_range(segment, piece.offset, piece.bytes)) [[unlikely]]
      return access_.out_of_range(peer, segment, piece.offset, piece.bytes, "piece");
  }
  if (peer == env_.me) {
    core::walk_pieces(remote, local, [&](std::uint64_t offset, Local part) {
      std::byte* const here = memory_.segment(segment.id).data() + offset;
      if constexpr (std::is_same_v<Local, core::Bytes>) {
        detail::move_bytes(here, part.data(), part.size());
      } else {
        detail::move_bytes(part.data(), here, part.size());
      }
    });
    return core::Post::done();
  }
  Connection* const connection = connections_.reach(peer);
  if (connection == nullptr) return losses_.no_connection(peer);
  Pieces pieces;
  const std::uint32_t unsignaled = connection->unsignaled;
  Lent lent;
  std::uint64_t next = UINT64_MAX;  // where the next part must start to continue the last request
  core::walk_pieces(remote, local, [&](std::uint64_t offset, Local part) {
    const bool reads = opcode == IBV_WR_RDMA_READ;
    while (!part.empty() && lent.kind == Lent::Kind::done) {
      const std::uint64_t at = segment.at + offset;
      const Local now = reads ? part.first(env_.sizes().intact(at, part.size())) : part;
      const bool goes_on = offset == next && !(reads && env_.sizes().starts_read(at));
      lent = add_piece(*connection, pieces, key, offset, plain(now), place_of(now), goes_on, opcode);
      part = part.subspan(now.size());
      next = offset += now.size();
    }
  });
  if (lent.kind != Lent::Kind::done) {
    for (; pieces.count > 0; --pieces.count) requests_.undo(*connection);
    connection->unsignaled = unsignaled;
    // If no other request has a registration, this list alone needs more than can be registered.
    const bool all_taken = lent.kind == Lent::Kind::in_use && !buffers_.any_registered();
    if (lent.kind != Lent::Kind::too_much && !all_taken) return lent.post();
    std::array<BouncedTransfer, 2 * Pieces::kMost> parts;
    std::size_t count = 0;
    core::walk_pieces(remote, local, [&](std::uint64_t offset, Local part) {
      parts[count++] = transfer_of(peer, key, offset, part);
    });
    parts[count - 1].token = token;
    return bounced_.or_bounce(core::Post::failed(ErrorCode::no_memory), std::span(parts).first(count));
  }
  OutstandingRequest& last = (*connection).outstanding[connection->outstanding.next() - 1];
  last.kind = opcode == IBV_WR_RDMA_WRITE ? OutstandingRequest::Kind::put : OutstandingRequest::Kind::get;
  last.token = token;
  return requests_.launch_list(*connection, pieces.all[0].request, pieces.all[pieces.count - 1].request);
}

// Adds a part of a piece: to the last request, if the part continues it remotely and lies in a segment locally, so that
// it needs no bounce buffer or registration; otherwise as a new request.
Lent Vector::add_piece(Connection& connection, Pieces& pieces, std::uint64_t key, std::uint64_t offset,
                       core::Bytes part, void* result, bool goes_on, ibv_wr_opcode opcode) noexcept {
  const auto length = static_cast<std::uint32_t>(part.size());
  auto here = memory_.key_in_segment(part);
  if (opcode == IBV_WR_RDMA_WRITE && !env_.sizes().is_intact(part)) here.reset();
  const ibv_sge direct{reinterpret_cast<std::uint64_t>(part.data()), length, here.value_or(0)};
  if (goes_on && here && pieces.count > 0) {
    Pieces::One& one = pieces.all[pieces.count - 1];
    const std::size_t most = opcode == IBV_WR_RDMA_READ ? env_.sizes().read_pieces : most_local();
    if (static_cast<std::size_t>(one.request.num_sge) < most) {
      one.pieces[static_cast<std::size_t>(one.request.num_sge++)] = direct;
      OutstandingRequest& entry = connection.outstanding[connection.outstanding.next() - 1];
      if (entry.bounce_buffer == nullptr) entry.bytes += length;
      return {};
    }
  }
  OutstandingRequest* const entry = requests_.begin(connection, OutstandingRequest::Kind::part, 0);
  if (entry == nullptr) return {Lent::Kind::no_room};
  Pieces::One& one = pieces.all[pieces.count++];
  entry->offset = offset;
  entry->key = static_cast<std::uint32_t>(key);
  entry->bytes = length;
  Work work;
  if (here) {
    work.piece = direct;
  } else if (const Lent lent = buffers_.lend(*entry, part, result == nullptr, work);
             lent.kind != Lent::Kind::done) {
    return lent;
  }
  if (entry->bounce_buffer != nullptr) entry->result = result;
  const Key& remote = memory_.remote(key);
  one.request = {};
  one.request.opcode = opcode;
  one.request.wr.rdma = {remote.at + offset, remote.key};
  one.pieces[0] = work.piece;
  one.request.sg_list = one.pieces.data();
  one.request.num_sge = 1;
  entry->reads = opcode == IBV_WR_RDMA_READ && !env_.sizes().in_order;
  requests_.name(connection, one.request,
                 entry->reads);  // on such devices only its own completion ends a read
  if (pieces.count > 1) pieces.all[pieces.count - 2].request.next = &one.request;
  return {};
}

}  // namespace aqueduct::conduits::ibv
