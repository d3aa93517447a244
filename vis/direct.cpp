#include "vis/accumulate.hpp"
#include "vis/kernels.hpp"
#include "vis/piece_transfers.hpp"

namespace aqueduct::vis {

namespace {

/// Copies by one nest of loops. False, if the two sides do not have common piece boundaries.
bool copy_by_loops(bool is_get, const Shape& remote, std::uint64_t origin, const Shape& local,
                   std::uint64_t here) noexcept {
  const auto loops = is_get ? nest(local, remote) : nest(remote, local);
  if (!loops) return false;
  auto* far = reinterpret_cast<std::byte*>(origin + remote.base);
  auto* own = reinterpret_cast<std::byte*>(here + local.base);
  run_nest(*loops, is_get ? own : far, is_get ? far : own);
  return true;
}

}  // namespace

// The plan "direct": copies during the call, where the peer's segment is mapped here or is my own. `mapped` is the
// address of the lowest byte of the pieces. False, if another plan is needed: for an accumulate where the network
// does the job's atomics.
bool PieceTransfers::copy_direct(const Request& request, std::byte* mapped, const Survey& there) noexcept {
  if (request.what == What::accumulate && !state_.atomics_by_processor) return false;
  // The address of request.base here.
  const std::uint64_t origin = reinterpret_cast<std::uintptr_t>(mapped) -
                               static_cast<std::uint64_t>(there.lowest) + request.base.offset();
  const bool is_get = request.what == What::get;
  const bool adds = request.what == What::accumulate;
  ++state_.statistics.vis_direct;
  // Mostly the shapes can be used as they are. Simplifying them takes longer than copying a few pieces, so it comes
  // second.
  if (!adds && copy_by_loops(is_get, request.there, origin, request.here, request.here_base)) return true;
  const Shape remote = simplified(request.there);
  const Shape local = simplified(request.here);
  if (!adds && copy_by_loops(is_get, remote, origin, local, request.here_base)) return true;
  // Shapes with different boundaries, lists, and additions: two cursors, which cut both sides at each other's ends.
  Cursor far(remote, there.bytes, origin);
  Cursor own(local, there.bytes, request.here_base);
  switch (request.what) {
    case What::put: copy_between(far, own, there.bytes); break;
    case What::get: copy_between(own, far, there.bytes); break;
    default: add_between(far, own, there.bytes, request.type); break;
  }
  return true;
}

}  // namespace aqueduct::vis
