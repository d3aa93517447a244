#include "runtime/describe.hpp"

#include "core/signals.hpp"
#include "runtime/host.hpp"
#include "topology/cpu_set.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

namespace {

static_assert(core::kSignalSegment == 1);

/// Writes what peers need in order to reach an endpoint through a conduit: the address, and max_packet, which must be
/// equal on all ranks, because a sender cuts its messages to its own limit; and what its adapter does with words, because
/// an adapter of the target stores them.
void tell_conduit(core::Conduit* conduit, core::AtomicSet atomics, BlobWriter& out) {
  out.bytes(conduit != nullptr ? conduit->address() : Blob{});
  out.number(conduit != nullptr ? conduit->properties().max_packet : 0);
  out.number(atomics.bits());
  const auto words = conduit != nullptr ? conduit->properties().whole_words : core::WholeWords::puts_and_gets;
  out.number(static_cast<std::uint64_t>(words));
}

/// Writes what ranks of all hosts must know, because members of a team choose alike by it. Conduits of two ranks may differ
/// in their longest transfer, as by the memory that they may pin.
void tell_limits(const EndpointState& state, BlobWriter& out) {
  std::uint64_t least = ~std::uint64_t{0};
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    // Without native transfers the reference layer cuts them.
    if (conduit == nullptr || conduit->rma() == nullptr) continue;
    if (const std::uint64_t most = conduit->properties().max_transfer; most != 0)
      least = std::min(least, most);
  }
  out.number(least);
  const bool sockets = std::ranges::any_of(
      std::array{state.near.get(), state.far.get()},
      [](core::Conduit* conduit) { return conduit != nullptr && conduit->properties().through_sockets; });
  out.number(sockets ? 1 : 0);
  // Ranks in virtual time wait for no processor, and their times are the same on all machines.
  out.number(state.own_time ? ~std::uint64_t{0} : processors_of_host());
  out.number(state.near != nullptr ? 1 : 0);
  for (core::Conduit* conduit : {state.near.get(), state.far.get()}) {
    const core::NativeCollectives* const native = conduit != nullptr ? conduit->collectives() : nullptr;
    out.number(native != nullptr ? native->offer() : 0);
  }
}

/// The atomics that the far conduit can do on this rank. All ranks exchange them, since a domain uses the network on
/// all ranks or on none. Empty if the far conduit maps memory: processors could then change words without the network.
core::AtomicSet atomics_of(const EndpointState& state) {
  const bool maps = state.far == nullptr || state.far->cross_map() != nullptr;
  if (maps || state.config.text("atomics") == "processor") return {};
  const core::NativeAtomics* const network = state.far->atomics();
  return network != nullptr ? network->operations() : core::AtomicSet{};
}

}  // namespace

Status describe_endpoint(Job::Impl& job, EndpointParts& parts, std::vector<LocalPart>& mine,
                         BlobWriter& to_near, BlobWriter& to_far) {
  EndpointState& state = parts.state;
  // If the network does atomics, neighbours too reach each other through the far conduit.
  const core::AtomicSet atomics = atomics_of(state);
  tell_conduit(state.near.get(), {}, to_near);
  tell_conduit(atomics.empty() ? nullptr : state.far.get(), atomics, to_near);
  tell_conduit(nullptr, {}, to_far);
  tell_conduit(state.far.get(), atomics, to_far);
  tell_limits(state, to_near);
  tell_limits(state, to_far);
  // Among ranks of one host alone. Where a far conduit serves too, it may pin all of this memory. All ranks have chosen the same
  // conduits, so they compute the same layouts.
  if (job.choice.far == nullptr) state.hidden.add_board();
  const std::size_t sizes[kOwnSegments] = {
      static_cast<std::size_t>(job.config.number("segment_bytes")),
      core::HiddenLayout::bytes(static_cast<std::uint64_t>(job.config.number("signals")), state.hidden)};
  const std::string cpus = topology::text_of(topology::cpus_of_this_thread());
  to_near.bytes(std::as_bytes(std::span(cpus)));
  to_far.bytes(std::as_bytes(std::span(cpus)));  // by it they know whether this host is crowded
  for (SegmentId id = 0; id < kOwnSegments; ++id) {
    const auto part = allocate_part(parts, sizes[id]);
    if (!part) return part.status();
    const auto offer = offer_part(parts, id, *part);
    if (!offer) return offer.status();
    mine.push_back(*part);
    offer->write(to_near, /*near=*/true, /*far=*/!atomics.empty());
    offer->write(to_far, /*near=*/state.near == nullptr, /*far=*/true);
  }
  return {};
}

Status read_gathered(Job::Impl& job, const std::vector<Blob>& all, GatheredData& gathered) {
  for (std::uint32_t process = 0; process < all.size(); ++process) {
    BlobReader in(all[process]);
    const auto code = static_cast<ErrorCode>(in.number());
    if (code != ErrorCode::ok) {
      job.log.error("process {} could not start: {}", process, Status(code).text());
      return {code, job.ranks_of[process].front()};
    }
    std::vector<std::uint64_t> tuning;
    for (std::uint64_t left = in.number(); left != 0 && in.ok(); --left) tuning.push_back(in.number());
    if (process == 0) gathered.tuning = std::make_shared<const std::vector<std::uint64_t>>(std::move(tuning));
    for (std::size_t i = 0; i < job.ranks_of[process].size(); ++i) {
      gathered.near.read(in);
      gathered.far.read(in);
      gathered.least_transfer = std::min(gathered.least_transfer, in.number());
      gathered.through_sockets |= in.number() != 0;
      gathered.processors.push_back(in.number());
      gathered.has_near.push_back(in.number() != 0);
      gathered.near_collectives.push_back(in.number());
      gathered.far_collectives.push_back(in.number());
      gathered.cpus.push_back(bootstrap::text_of(in.bytes()));
      for (auto& parts : gathered.parts) {
        BlobWriter copy;
        for (int number = 0; number < 2; ++number) copy.number(in.number());
        for (int key = 0; key < 3; ++key) copy.bytes(in.bytes());
        parts.push_back(copy.blob());
      }
    }
    if (!in.ok()) return ErrorCode::bootstrap_failed;
  }
  return {};
}

}  // namespace aqueduct::runtime
