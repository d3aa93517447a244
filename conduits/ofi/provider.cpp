#include "conduits/ofi/provider.hpp"

#include "conduits/ofi/cma_access.hpp"

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <set>

#include <netinet/in.h>

namespace aqueduct::conduits::ofi {
namespace {

// The version of the interface that is asked for. Later libraries have it too.
constexpr std::uint32_t kVersion = FI_VERSION(1, 14);

Info owned(const Library& library, fi_info* info) { return Info(info, FreeInfo{library.freeinfo}); }

/// What fi_getinfo is asked for beside the criteria.
struct InfoQuery {
  std::uint64_t caps = FI_MSG | FI_RMA | FI_MULTI_RECV;
  std::uint64_t operations =
      FI_DELIVERY_COMPLETE;  // a put's completion must mean that its bytes are in place
  const char* provider = nullptr;
  const char* domain = nullptr;
};

Info query_info(const Library& library, const ProviderCriteria& criteria, const InfoQuery& query) {
  const Info hints = owned(library, library.dupinfo(nullptr));
  if (hints == nullptr) return {};
  hints->caps = query.caps;
  hints->tx_attr->op_flags = query.operations;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  // One thread at a time uses an endpoint, its domain and its queues. With auto progress, a thread of the provider does too.
  hints->domain_attr->threading = criteria.auto_progress ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
  hints->domain_attr->data_progress = criteria.auto_progress ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  // Freed together with the hints.
  if (query.provider != nullptr) hints->fabric_attr->prov_name = ::strdup(query.provider);
  if (query.domain != nullptr) hints->domain_attr->name = ::strdup(query.domain);
  fi_info* found = nullptr;
  if (library.getinfo(kVersion, nullptr, nullptr, 0, hints.get(), &found) != 0) return {};
  return owned(library, found);
}

bool is_loopback(const fi_info& info) {
  const auto* address = static_cast<const sockaddr*>(info.src_addr);
  if (address == nullptr || info.src_addrlen < sizeof(sockaddr_in)) return false;
  if (info.addr_format != FI_SOCKADDR && info.addr_format != FI_SOCKADDR_IN &&
      info.addr_format != FI_SOCKADDR_IN6) {
    return false;
  }
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(four->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

/// Ranks the answers of libfabric: less is better. Among equals the first is taken, which the provider prefers.
struct Rating {
  std::size_t provider;
  bool wrong_place;  // loopback for several hosts, or no loopback for one

  bool operator<(const Rating& other) const {
    return provider != other.provider ? provider < other.provider : wrong_place < other.wrong_place;
  }
};

const fi_info* best_of(const fi_info* all, const ProviderCriteria& criteria) {
  const fi_info* best = nullptr;
  Rating best_rating{};
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    const std::string name = info->fabric_attr->prov_name;
    if (!criteria.provider.empty() && name != criteria.provider) continue;
    if (criteria.provider.empty() && !quirks_of(name).crosses_hosts && !criteria.one_host) continue;
    if (!criteria.domain.empty() && criteria.domain != info->domain_attr->name) continue;
    const bool one_place = is_loopback(*info);
    // Unless a domain is named, loopback is avoided in a job of several hosts: they could not reach one another.
    const Rating rating{preference_of(name), criteria.domain.empty() && one_place != criteria.one_host};
    if (best == nullptr || rating < best_rating) best = info, best_rating = rating;
  }
  return best;
}

std::string all_names(const fi_info* all, const std::string& of_provider) {
  std::set<std::string> names;
  for (const fi_info* info = all; info != nullptr; info = info->next) {
    if (of_provider.empty()) names.insert(info->fabric_attr->prov_name);
    if (of_provider == info->fabric_attr->prov_name) names.insert(info->domain_attr->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string why_none(const ProviderCriteria& criteria, const fi_info* all) {
  if (all == nullptr) {
    return fmt::format(
        "no provider of libfabric here has reliable messages and one-sided access{}; `fi_info -t FI_EP_RDM` "
        "lists what there is",
        criteria.auto_progress ? " with progress of its own (AQUEDUCT_OFI_PROGRESS=auto)" : "");
  }
  const std::string names = all_names(all, {});
  if (!criteria.provider.empty() && !all_names(all, criteria.provider).empty()) {
    return fmt::format("AQUEDUCT_OFI_DOMAIN={} is not a domain of provider {}; it has {}", criteria.domain,
                       criteria.provider, all_names(all, criteria.provider));
  }
  if (!criteria.provider.empty()) {
    return fmt::format("AQUEDUCT_OFI_PROVIDER={} cannot be used here; there are {}", criteria.provider,
                       names);
  }
  return fmt::format("no provider has the domain AQUEDUCT_OFI_DOMAIN={}; `fi_info` lists domains of {}",
                     criteria.domain, names);
}

/// Why no provider serves the criteria.
std::string why_nothing(const Library& library, const ProviderCriteria& criteria, const char* named,
                        const Info& all) {
  const Info lax = query_info(library, criteria, {.operations = 0, .provider = named});
  if (const fi_info* silent = best_of(lax.get(), criteria)) {
    return fmt::format(
        "provider {} does not tell when a put has arrived (FI_DELIVERY_COMPLETE); set AQUEDUCT_OFI_PROVIDER "
        "to one "
        "that does, as `fi_info` lists them",
        silent->fabric_attr->prov_name);
  }
  const Info any = criteria.provider.empty() ? Info() : query_info(library, criteria, {});
  return why_none(criteria, all != nullptr ? all.get() : any.get());
}

}  // namespace

Found find_provider(const ProviderCriteria& criteria) {
  Found found;
  const Loaded loaded = load_library();
  if (!loaded.problem.empty()) {
    found.problem = loaded.problem;
    return found;
  }
  const Library& library = loaded.library;
  const char* const named = criteria.provider.empty() ? nullptr : criteria.provider.c_str();
  const Info all = query_info(library, criteria, {.provider = named});
  const fi_info* best = best_of(all.get(), criteria);
  if (best == nullptr) {
    found.problem = why_nothing(library, criteria, named, all);
    return found;
  }
  Provider& provider = found.provider;
  provider.library = library;
  provider.quirks = &quirks_of(best->fabric_attr->prov_name);
  if (provider.quirks->completes_at_post) {
    if (const std::string why = why_no_cma(probe_cma()); !why.empty()) {
      found.problem = fmt::format("provider {} copies between processes, and {}", provider.quirks->name, why);
      return found;
    }
  }
  if (provider.why_no_atomics().empty()) {
    // Asked separately: a capability that is not asked for is not there, but asking for it may rule the provider out.
    InfoQuery query{.provider = best->fabric_attr->prov_name, .domain = best->domain_attr->name};
    query.caps |= FI_ATOMIC;
    const Info more = query_info(library, criteria, query);
    if (const fi_info* same = best_of(more.get(), criteria); same != nullptr) {
      provider.info = owned(library, library.dupinfo(same));
      provider.atomics = true;
    }
  }
  if (provider.info == nullptr) provider.info = owned(library, library.dupinfo(best));
  if (provider.info == nullptr) {
    found.problem = "no memory";
    return found;
  }
  provider.info->tx_attr->op_flags &=
      ~FI_DELIVERY_COMPLETE;  // each put asks for it; packets need not wait for delivery
  // With manual progress such a provider runs without its thread, and packets wait for the next poll: a rank that computes
  // would hold up its peers.
  if (provider.quirks->progresses_by_itself) provider.info->domain_attr->data_progress = FI_PROGRESS_AUTO;
  provider.auto_progress = provider.info->domain_attr->data_progress == FI_PROGRESS_AUTO;
  provider.signals = provider.quirks->no_signals.empty() &&
                     provider.info->domain_attr->cq_data_size >= sizeof(std::uint64_t);
  return found;
}

std::string Provider::text() const {
  std::string text =
      fmt::format("provider {} on {}; progress {}", name(), domain(), auto_progress ? "auto" : "manual");
  text += fmt::format("; atomics {}", !why_no_atomics().empty()
                                          ? fmt::format("by the owner ({})", why_no_atomics())
                                      : atomics ? "native"
                                                : "by the owner (it has none)");
  text += signals ? "; signals native" : "; signals in a packet of their own";
  if (!quirks->no_descriptor.empty()) text += fmt::format("; not slept on ({})", quirks->no_descriptor);
  if ((info->domain_attr->mr_mode & FI_MR_LOCAL) != 0) text += "; local buffers are registered";
  return text;
}

}  // namespace aqueduct::conduits::ofi
