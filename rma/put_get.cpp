#include <aqueduct/rma.hpp>

#include "core/entry.hpp"
#include "rma/transfers.hpp"

// The cold paths of include/aqueduct/rma.hpp, for targets that are not mapped here. Each first tries the short path, a
// single native post (`put_at_once`, `get_at_once`), and otherwise takes the general one. Operations that are begun where
// nothing hinders (EndpointState::is_plain) and that have no options need no Entry and hold nothing across the post.

namespace aqueduct::detail {

using Completion = rma::Transfers::Completion;

namespace {

bool plain(const PutOptions& options) noexcept {
  return options.source == SourceReuse::at_completion && options.source_event == nullptr;
}

[[gnu::noinline]] Event put_nb_within_entry(Endpoint& ep, GlobalPtr<std::byte> to, const void* from,
                                            std::size_t bytes, const PutOptions& options) noexcept {
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (plain(options)) {
    if (rma::Op* const op = transfers.put_at_once(to, from, bytes, nullptr)) return Event(op);
  }
  return transfers.put(to, from, bytes, Completion::event, options).event;
}

[[gnu::noinline]] Status put_nbi_within_entry(Endpoint& ep, GlobalPtr<std::byte> to, const void* from,
                                              std::size_t bytes, const PutOptions& options) noexcept {
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (rma::Op* const group = transfers.joined(options.group); plain(options) && group != nullptr) {
    if (transfers.put_at_once(to, from, bytes, group) != nullptr) return {};
  }
  return transfers.put(to, from, bytes, Completion::group, options).status;
}

[[gnu::noinline]] Event get_nb_within_entry(Endpoint& ep, void* to, GlobalPtr<std::byte> from,
                                            std::size_t bytes, const GetOptions& options) noexcept {
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (rma::Op* const op = transfers.get_at_once(to, from, bytes, nullptr)) return Event(op);
  return transfers.get(to, from, bytes, Completion::event, options.immediate).event;
}

[[gnu::noinline]] Status get_nbi_within_entry(Endpoint& ep, void* to, GlobalPtr<std::byte> from,
                                              std::size_t bytes, const GetOptions& options) noexcept {
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (rma::Op* const group = transfers.joined(options.group)) {
    if (transfers.get_at_once(to, from, bytes, group) != nullptr) return {};
  }
  return transfers.get(to, from, bytes, Completion::group, options.immediate, options.group).status;
}

}  // namespace

void notify_mapped(Endpoint& ep, Rank target) noexcept {
  core::Entry entry(ep.state());
  ep.state().wake_after_stores(target);
}

Status put_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, const void* from,
                     std::size_t bytes) noexcept {
  const GlobalPtr<std::byte> to(rank, offset, segment);
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (rma::Op* const op = transfers.put_at_once(to, from, bytes, nullptr)) {
    Event event(op);
    return ep.wait(std::move(event));
  }
  return transfers.put(to, from, bytes, Completion::blocking, {}).status;
}

Event put_nb_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, const void* from,
                       std::size_t bytes, const PutOptions& options) noexcept {
  const GlobalPtr<std::byte> to(rank, offset, segment);
  if (ep.state().is_plain() && plain(options)) [[likely]]
    return ep.state().transfers->put_plainly_nb(to, from, bytes, options);
  return put_nb_within_entry(ep, to, from, bytes, options);
}

Status put_nbi_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, const void* from,
                         std::size_t bytes, const PutOptions& options) noexcept {
  const GlobalPtr<std::byte> to(rank, offset, segment);
  if (ep.state().is_plain() && plain(options) && options.group == nullptr) [[likely]]
    return ep.state().transfers->put_plainly_nbi(to, from, bytes, options);
  return put_nbi_within_entry(ep, to, from, bytes, options);
}

Status get_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, void* to,
                     std::size_t bytes) noexcept {
  const GlobalPtr<std::byte> from(rank, offset, segment);
  core::Entry entry(ep.state());
  rma::Transfers& transfers = *ep.state().transfers;
  if (rma::Op* const op = transfers.get_at_once(to, from, bytes, nullptr)) {
    Event event(op);
    return ep.wait(std::move(event));
  }
  return transfers.get(to, from, bytes, Completion::blocking, false).status;
}

Event get_nb_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, void* to,
                       std::size_t bytes, const GetOptions& options) noexcept {
  const GlobalPtr<std::byte> from(rank, offset, segment);
  if (ep.state().is_plain()) [[likely]]
    return ep.state().transfers->get_plainly_nb(to, from, bytes, options);
  return get_nb_within_entry(ep, to, from, bytes, options);
}

Status get_nbi_over_wire(Endpoint& ep, Rank rank, SegmentId segment, std::uint64_t offset, void* to,
                         std::size_t bytes, const GetOptions& options) noexcept {
  const GlobalPtr<std::byte> from(rank, offset, segment);
  if (ep.state().is_plain() && options.group == nullptr) [[likely]]
    return ep.state().transfers->get_plainly_nbi(to, from, bytes, options);
  return get_nbi_within_entry(ep, to, from, bytes, options);
}

}  // namespace aqueduct::detail
