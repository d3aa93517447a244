#include "conduits/ofi/objects.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

namespace aqueduct::conduits::ofi {
namespace {

int open_queue(const Provider& provider, bool sleeps, Objects& objects) {
  fi_cq_attr attributes{};
  // Room for all that can complete between two polls: operations posted here, and arrivals.
  attributes.size = provider.info->tx_attr->size + provider.info->rx_attr->size;
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = sleeps ? FI_WAIT_FD : FI_WAIT_NONE;
  const int error = open_fid(objects.cq, [&](fid_cq** raw) {
    return ::fi_cq_open(objects.domain.get(), &attributes, raw, nullptr);
  });
  if (error != 0) return error;
  if (sleeps && ::fi_control(&objects.cq->fid, FI_GETWAIT, &objects.descriptor) != 0) objects.descriptor = -1;
  return 0;
}

}  // namespace

Result<std::vector<std::byte>> Objects::name() const {
  std::size_t bytes = 0;
  static_cast<void>(::fi_getname(&ep->fid, nullptr, &bytes));
  std::vector<std::byte> name(bytes);
  if (::fi_getname(&ep->fid, name.data(), &bytes) != 0) return ErrorCode::network_failed;
  name.resize(bytes);
  return name;
}

Result<Objects> open_objects(fid_fabric& fabric, const Provider& provider, Rank ranks, bool sleeps, Rank me,
                             core::Log& log) {
  Objects objects;
  objects.fabric = &fabric;
  fi_info* const info = provider.info.get();
  const char* what = "a domain";
  int error =
      open_fid(objects.domain, [&](fid_domain** raw) { return ::fi_domain(&fabric, info, raw, nullptr); });
  if (error == 0) {
    what = "an address vector";
    fi_av_attr attributes{};
    attributes.type = info->domain_attr->av_type;
    attributes.count = ranks;
    error = open_fid(objects.av, [&](fid_av** raw) {
      return ::fi_av_open(objects.domain.get(), &attributes, raw, nullptr);
    });
  }
  if (error == 0) {
    what = "a completion queue";
    error = open_queue(provider, sleeps, objects);
    if (error != 0 && sleeps) error = open_queue(provider, false, objects);
  }
  if (error == 0) {
    what = "an endpoint";
    error = open_fid(objects.ep,
                     [&](fid_ep** raw) { return ::fi_endpoint(objects.domain.get(), info, raw, nullptr); });
  }
  if (error == 0) {
    what = "the endpoint's queues";
    error = ::fi_ep_bind(objects.ep.get(), &objects.av->fid, 0);
    if (error == 0) error = ::fi_ep_bind(objects.ep.get(), &objects.cq->fid, FI_TRANSMIT | FI_RECV);
  }
  if (error == 0) return Result<Objects>(std::move(objects));
  log.error(
      "ofi: rank {}: provider {} on {} does not open {}: {}. FI_LOG_LEVEL=warn makes libfabric say more; "
      "AQUEDUCT_OFI_PROVIDER chooses another",
      me, provider.name(), provider.domain(), what, provider.library.text(error));
  return error == -FI_ENOMEM ? ErrorCode::no_memory : ErrorCode::network_failed;
}

}  // namespace aqueduct::conduits::ofi
