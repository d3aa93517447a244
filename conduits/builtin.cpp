#include "conduits/builtin.hpp"

#include "conduits/loop/loop.hpp"
#include "conduits/smp/smp.hpp"
#include "conduits/ucx/ucx.hpp"
#include "conduits/udp/udp.hpp"

namespace aqueduct::conduits {

std::span<const core::ConduitEntry* const> builtin() noexcept {
  static constexpr const core::ConduitEntry* kAll[] = {&smp::smp_entry, &loop::loop_entry, &udp::udp_entry,
                                                       &ucx::ucx_entry};
  return kAll;
}

}  // namespace aqueduct::conduits
