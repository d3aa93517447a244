#pragma once

#include "conduits/ofi/registrations.hpp"
#include "core/local_registrations.hpp"

namespace aqueduct::conduits::ofi {

using Registration = core::LocalRegistration<Fid<fid_mr>>;

/// Registers callers' buffers for providers that need it.
class LocalCache : public core::LocalRegistrations<Fid<fid_mr>> {
 public:
  LocalCache(Registrations& registrations, std::size_t keep)
      : LocalRegistrations(keep), registrations_(registrations) {}

  Registration* borrow(core::Bytes buffer, core::LocalUse use, int& error) noexcept {
    return LocalRegistrations::borrow(
        buffer, use, error, [this](core::MutableBytes memory, core::LocalUse of, int& why) noexcept {
          return registrations_.add_local(memory, of, why);
        });
  }

 private:
  Registrations& registrations_;
};

inline void* descriptor_of(const Registration& registration) noexcept {
  return ::fi_mr_desc(registration.region().get());
}

}  // namespace aqueduct::conduits::ofi
