#pragma once

#include "conduits/ofi/fid.hpp"
#include "core/local_registrations.hpp"

namespace aqueduct::conduits::ofi {

using Registration = core::LocalRegistration<Fid<fid_mr>>;
using LocalCache = core::LocalRegistrations<Fid<fid_mr>>;

inline void* descriptor_of(const Registration& registration) noexcept {
  return ::fi_mr_desc(registration.region().get());
}

}  // namespace aqueduct::conduits::ofi
