#include "conduits/ofi/ofi_vector.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "core/pieces.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

core::MutableBytes writable(core::Bytes bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()),
          bytes.size()};  // libfabric has one type of list for puts and gets
}
core::MutableBytes writable(core::MutableBytes bytes) noexcept { return bytes; }

}  // namespace

std::size_t Vector::most_local() const noexcept {
  return std::min(provider_.info->tx_attr->iov_limit, kMostPieces);
}

std::size_t Vector::most_remote() const noexcept {
  // shm copies a single remote piece itself. Several remote pieces it leaves to the peer, and completes at once all the same.
  if (provider_.quirks->completes_at_post) return 1;
  return std::min(provider_.info->tx_attr->rma_iov_limit, kMostPieces);
}

template <class Local, class Copy>
core::Post Vector::copy_own(std::uint64_t key, std::span<const core::RemotePiece> remote,
                            std::span<const Local> local, const Copy& copy) noexcept {
  const core::MutableBytes mine = registrations_.segment(registrations_.remote(key).id);
  for (const core::RemotePiece& piece : remote) {
    if (piece.offset > mine.size() || piece.bytes > mine.size() - piece.offset)
      return core::Post::failed(ErrorCode::out_of_range);
  }
  core::walk_pieces(remote, local, [&](std::uint64_t offset, const Local& part) {
    copy(mine.subspan(offset, part.size()), part);
  });
  return core::Post::done();
}

// Where the provider wants local buffers registered, a short put is gathered in the request's slot.
template <class Local>
core::Post Vector::post(Request& request, std::uint64_t key, std::span<const core::RemotePiece> remote,
                        std::span<const Local> local) noexcept {
  constexpr bool kIsPut = std::is_same_v<Local, core::Bytes>;
  const RemoteKey& segment = registrations_.remote(key);
  std::array<fi_rma_iov, kMostPieces> there;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < remote.size(); ++i) {
    there[i] = {segment.base + remote[i].offset, remote[i].bytes, segment.key};
    bytes += remote[i].bytes;
  }
  std::array<iovec, kMostPieces> here;
  std::array<void*, kMostPieces> descriptors{};
  std::size_t count = local.size();
  if (kIsPut && local_.needed() && bytes <= slot_bytes_) {
    std::size_t at = 0;
    for (const Local& piece : local) {
      std::memcpy(request.slot + at, piece.data(), piece.size());
      at += piece.size();
    }
    here[0] = {request.slot, bytes};
    descriptors[0] = request.descriptor;
    count = 1;
  } else {
    constexpr auto kUse = kIsPut ? core::LocalUse::read : core::LocalUse::write;
    for (std::size_t i = 0; i < count; ++i) {
      const core::MutableBytes piece = writable(local[i]);
      here[i] = {piece.data(), piece.size()};
      std::int64_t answer = 0;
      if (local_.needed() && !local_.lend(request, piece, kUse, descriptors[i], answer)) {
        return operations_.posted(request, answer, "to register a local buffer");
      }
    }
    request.uses_caller_memory = !provider_.quirks->completes_at_post;
  }
  fi_msg_rma message{};
  message.msg_iov = here.data();
  message.desc = descriptors.data();
  message.iov_count = count;
  message.addr = peers_[request.peer].at;
  message.rma_iov = there.data();
  message.rma_iov_count = remote.size();
  message.context = &request.context;
  const std::int64_t answer =
      kIsPut ? ::fi_writemsg(ep_, &message, delivered_) : ::fi_readmsg(ep_, &message, FI_COMPLETION);
  return operations_.posted(request, answer, kIsPut ? "a put of pieces" : "a get of pieces");
}

core::Post Vector::put_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> to,
                              std::span<const core::Bytes> from, core::Token token) noexcept {
  if (const auto why = core::check_pieces(to, from, limits()); why != ErrorCode::ok)
    return core::Post::failed(why);
  if (peer == me_) {
    return copy_own(key, to, from, [](core::MutableBytes place, core::Bytes part) {
      detail::move_bytes(place.data(), part.data(), part.size());
    });
  }
  Request* const request = operations_.begin(peer, Request::Kind::transfer, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  return post(*request, key, to, from);
}

core::Post Vector::get_pieces(Rank peer, std::uint64_t key, std::span<const core::RemotePiece> from,
                              std::span<const core::MutableBytes> to, core::Token token) noexcept {
  if (const auto why = core::check_pieces(from, to, limits()); why != ErrorCode::ok)
    return core::Post::failed(why);
  if (peer == me_) {
    return copy_own(key, from, to, [](core::MutableBytes place, core::MutableBytes part) {
      detail::move_bytes(part.data(), place.data(), part.size());
    });
  }
  Request* const request = operations_.begin(peer, Request::Kind::fetch, token);
  if (request == nullptr) [[unlikely]]
    return operations_.no_request(peer);
  return post(*request, key, from, to);
}

}  // namespace aqueduct::conduits::ofi
