#include "conduits/builtin.hpp"

#include "conduits/loop/loop.hpp"
#include "conduits/smp/smp.hpp"
#include "conduits/udp/udp.hpp"

#ifdef AQUEDUCT_WITH_OFI
#include "conduits/ofi/ofi.hpp"
#endif

namespace aqueduct::conduits {

std::span<const core::ConduitEntry* const> builtin() noexcept {
  static constexpr const core::ConduitEntry* kAll[] = {
      &smp::smp_entry,
      &loop::loop_entry,
      &udp::udp_entry,
#ifdef AQUEDUCT_WITH_OFI  // this conduit needs a library that this build may lack
      &ofi::ofi_entry,
#endif
  };
  return kAll;
}

}  // namespace aqueduct::conduits
