#pragma once

#include "conduits/ofi/fid.hpp"
#include "conduits/ofi/provider.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

namespace aqueduct::conduits::ofi {

/// One endpoint's objects of libfabric, closed in the reverse of the order in which they are opened.
///
/// Each endpoint has its own domain: only one thread uses it, so providers take no locks.
struct Objects {
  fid_fabric* fabric = nullptr;  ///< the process's
  Fid<fid_domain> domain;
  Fid<fid_av> av;
  Fid<fid_cq> cq;
  Fid<fid_ep> ep;
  int descriptor = -1;  ///< readable when the queue has an entry; -1: the queue has no descriptor

  /// The endpoint's address.
  Result<std::vector<std::byte>> name() const;
};

/// Opens them. The endpoint is not enabled yet. The log says what the provider refused.
Result<Objects> open_objects(fid_fabric& fabric, const Provider& provider, Rank ranks, bool sleeps, Rank me,
                             core::Log& log);

}  // namespace aqueduct::conduits::ofi
