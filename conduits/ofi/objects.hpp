#pragma once

#include "conduits/ofi/fid.hpp"
#include "conduits/ofi/provider.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

namespace aqueduct::conduits::ofi {

/// One endpoint's objects of libfabric, opened in order and closed in the reverse one.
///
/// Each endpoint has a domain of its own: an endpoint belongs to one thread, and providers take no locks then.
struct Objects {
  fid_fabric* fabric = nullptr;  ///< the process's
  Fid<fid_domain> domain;
  Fid<fid_av> av;
  Fid<fid_cq> cq;
  Fid<fid_ep> ep;
  int descriptor = -1;  ///< readable when the queue has something; -1: the queue has none

  /// The endpoint's address.
  Result<std::vector<std::byte>> name() const;
};

/// Opens them, up to an endpoint that is not enabled yet. The log says what was refused.
Result<Objects> open_objects(fid_fabric& fabric, const Provider& provider, Rank ranks, bool sleeps, Rank me,
                             core::Log& log);

}  // namespace aqueduct::conduits::ofi
