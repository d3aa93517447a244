#include "vis/accumulate.hpp"
#include "vis/engine.hpp"
#include "vis/kernels.hpp"

namespace aqueduct::vis {

// Where the peer's segment is mapped here, or is my own: copies, at the call. False: it is not.
bool Engine::copy_direct(const Request& request, const Survey& there, const Survey& here) noexcept {
  const auto lowest = static_cast<std::uint64_t>(there.lowest);
  const std::uint64_t extent = static_cast<std::uint64_t>(there.highest) - lowest;
  const GlobalPtr<std::byte> first{request.base.rank(), lowest, request.base.segment()};
  if (request.what == What::accumulate && !state_.atomics_by_processor) return false;
  std::byte* mapped = state_.face.local(first, extent);
  if (mapped == nullptr) return false;
  // Where offset 0 of the segment would be.
  const std::uint64_t origin = reinterpret_cast<std::uintptr_t>(mapped) - lowest + request.base.offset();
  const Shape remote = simplified(request.there);
  const Shape local = simplified(request.here);
  ++state_.statistics.vis_direct;
  if (request.what != What::accumulate) {
    const bool is_get = request.what == What::get;
    if (const auto loops = is_get ? nest(local, remote) : nest(remote, local)) {
      auto* far = reinterpret_cast<std::byte*>(origin + remote.base);
      auto* own = reinterpret_cast<std::byte*>(request.here_base + local.base);
      run_nest(*loops, is_get ? own : far, is_get ? far : own);
      return true;
    }
  }
  Cursor far(remote, there.bytes, origin);
  Cursor own(local, here.bytes, request.here_base);
  switch (request.what) {
    case What::put: copy_between(far, own, there.bytes); break;
    case What::get: copy_between(own, far, there.bytes); break;
    default: add_between(far, own, there.bytes, request.type); break;
  }
  return true;
}

}  // namespace aqueduct::vis
