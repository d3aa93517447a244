#include "core/signals.hpp"
#include "vis/accumulate.hpp"
#include "vis/piece_transfers.hpp"

namespace aqueduct::vis {
namespace {

const char* name_of(What what) noexcept {
  switch (what) {
    case What::put: return "put";
    case What::get: return "get";
    default: return "accumulate_strided";
  }
}

/// Whether all strides of a strided shape are multiples of `width`, so that its elements are as aligned as the first
/// one.
bool strides_fit(const Shape& shape, std::uint64_t width) noexcept {
  for (std::uint32_t i = 0; i < shape.dimensions; ++i) {
    if (shape.dims[i].count > 1 && static_cast<std::uint64_t>(shape.dims[i].stride) % width != 0)
      return false;
  }
  return true;
}

}  // namespace

Status PieceTransfers::reject(const Request& request, ErrorCode code, const std::string& why) {
  state_.log.error("{} of pieces with rank {}, segment {}: {}", name_of(request.what), request.base.rank(),
                   request.base.segment(), why);
  return {code, request.base.rank()};
}

// Finds everything that can be wrong with the arguments, before anything moves. Both surveys are filled in: the
// choice of a plan needs them too.
Status PieceTransfers::check(const Request& request, Survey& there, Survey& here) {
  const Shape& remote = request.there;
  const Shape& local = request.here;
  const std::uint64_t offset = request.base.offset();
  there = survey(remote, offset);
  if (there.problem != Problem::none) {
    // A place that is too far is outside the segment, like a nearer one.
    const bool far = there.problem == Problem::base || there.problem == Problem::pieces;
    const ErrorCode code = far ? ErrorCode::out_of_range : code_of(there.problem, remote);
    return reject(request, code, "the remote side: " + text_of(there.problem, remote));
  }
  here = survey(local, request.here_base);
  if (here.problem != Problem::none)
    return reject(request, code_of(here.problem, local), "the local side: " + text_of(here.problem, local));
  if (here.bytes != 0 && here.lowest <= 0)
    return reject(request, ErrorCode::invalid_argument,
                  "the local side: a null pointer, or an address below it");
  if (there.bytes != here.bytes) {
    return reject(
        request, ErrorCode::invalid_argument,
        fmt::format("the local pieces have {} bytes and the remote ones {}; both must have the same sum",
                    here.bytes, there.bytes));
  }
  auto part = state_.segments.check({request.base.rank(), 0, request.base.segment()}, 0);
  if (!part && state_.in_child()) return part.status();
  if (!part) return reject(request, part.status().code(), "there is no such rank or segment");
  if (request.signal != nullptr) {
    const Status slot = core::check_user_slot(state_, request.base.rank(), request.signal->slot);
    if (!slot)
      return reject(request, slot.code(), fmt::format("there is no signal {}", request.signal->slot));
  }
  if (there.bytes == 0) return {};
  const std::uint64_t limit = (*part)->bytes;
  if (there.lowest < 0 || static_cast<std::uint64_t>(there.highest) > limit) {
    return reject(request, ErrorCode::out_of_range,
                  fmt::format("{}, outside the segment, which has {} bytes there",
                              first_outside(remote, offset, there.bytes, limit), limit));
  }
  if (request.what == What::accumulate) {
    const std::uint64_t width = atomic_bytes(request.type);
    if (remote.bytes % width != 0 || local.bytes % width != 0) {
      return reject(request, ErrorCode::invalid_argument,
                    fmt::format("both sides must have elements of {} bytes", width));
    }
    if (!(*part)->aligned(offset + remote.base, width) || !strides_fit(remote, width)) {
      return reject(
          request, ErrorCode::misaligned,
          fmt::format("an element of the target is not at a multiple of {} bytes; see its base and strides",
                      width));
    }
  }
#ifdef AQUEDUCT_CHECKED
  if (request.what != What::accumulate &&
      (request.what == What::get ? overlaps(local, here) : overlaps(remote, there))) {
    return reject(request, ErrorCode::invalid_argument,
                  "pieces of the target overlap, so what it holds then is open");
  }
#endif
  return {};
}

}  // namespace aqueduct::vis
