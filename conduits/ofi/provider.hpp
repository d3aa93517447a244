#pragma once

#include "conduits/ofi/fid.hpp"
#include "conduits/ofi/library.hpp"
#include "conduits/ofi/quirks.hpp"

#include <string>
#include <string_view>

namespace aqueduct::conduits::ofi {

/// What the settings and the job ask of a provider.
struct ProviderCriteria {
  std::string provider{};      ///< its name; empty: the best one
  std::string domain{};        ///< its domain (eth0, mlx5_0); empty: one is chosen
  bool one_host = false;       ///< all ranks share a host: loopback is enough
  bool auto_progress = false;  ///< a thread of the provider must answer peers while the program computes
};

/// A provider on one of its domains, with exactly the capabilities that the conduit uses.
struct Provider {
  Library library;
  Info info;
  const Quirks* quirks = nullptr;
  bool atomics = false;  ///< its endpoints have atomics; Atomics::learn asks which
  bool signals = false;  ///< a put can carry 8 bytes to the target's completion queue (FI_REMOTE_CQ_DATA)
  bool auto_progress = false;  ///< peers are answered while the program computes

  /// Why the provider's atomics must not be used; empty: they may be used.
  std::string_view why_no_atomics() const noexcept { return ofi::why_no_atomics(*quirks); }
  /// The flags of a put: it has a completion, which means that its bytes are in place.
  std::uint64_t delivered() const noexcept {
    return FI_COMPLETION | (quirks->completes_at_post ? 0 : FI_DELIVERY_COMPLETE);
  }
  std::string name() const { return info->fabric_attr->prov_name; }
  std::string domain() const { return info->domain_attr->name; }
  /// What carries the packets: "tcp on eth0" (core::Properties::network).
  std::string network() const { return name() + " on " + domain(); }
  /// In words: its domain, and which of its capabilities are used.
  std::string text() const;
};

struct Found {
  Provider provider;
  std::string problem;  ///< why no provider can be used, and what to do; empty if one can
};

/// Asks libfabric, once per process: that takes some hundred milliseconds where many providers are installed.
Found find_provider(const ProviderCriteria& criteria);

}  // namespace aqueduct::conduits::ofi
