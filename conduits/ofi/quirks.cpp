#include "conduits/ofi/quirks.hpp"

#include <algorithm>
#include <iterator>

namespace aqueduct::conduits::ofi {
namespace {

// An entry overrides advertised capabilities where a test has shown otherwise (libfabric 1.17, Debian 12). Providers for
// hardware that nobody has tried are believed. Atomics of providers that are not in the list are not used: wrong results
// would go unnoticed.
constexpr Quirks kQuirks[] = {
    {.name = "cxi", .hardware = true},
    {.name = "opx", .hardware = true},
    {.name = "psm3", .hardware = true},
    {.name = "psm2", .hardware = true},
    {.name = "efa", .hardware = true},
    // rxm does atomics by messages, as this library does, and not in the card. With FI_ATOMIC requested, it refuses to
    // register a local buffer next to one that is registered ("Required key not available": the card's key covers both).
    {.name = "verbs;ofi_rxm",
     .hardware = true,
     .no_atomics = "they would be messages too, and cost it registrations"},
    // The providers over tcp release a shared receive buffer when its last piece has arrived, although other peers' packets
    // may still be arriving in it: later packets overwrote them (between hosts, in 4 of 60 storms of 7,200 packets of 8 KiB).
    // libfabric's pull request 9420, of October 2023, fixes that.
    {.name = "tcp;ofi_rxm", .fills_buffers = false},
    {.name = "net",
     .fills_buffers = false,
     .no_atomics = "every atomic call answers ENOSYS",
     .no_descriptor = "arrivals do not end a sleep on its descriptor"},
    {.name = "tcp", .fills_buffers = false},
    // A packet is one datagram, and few are outstanding: a datagram that overflows a socket's buffer is retransmitted only
    // after a fifth of a second.
    {.name = "udp;ofi_rxd",
     .no_atomics = "its fetching atomics crash",
     .most_queue = 32,
     .most_packet = 1248},
    {.name = "sockets", .progresses_by_itself = true, .fills_buffers = false},
    // It takes answers in the order of its requests: an answer that a dead peer owes blocks those of all other peers for good.
    // So nothing that needs an answer is used. Plain puts and gets are copies by the system, and short packets go straight into
    // the peer's queue.
    {.name = "shm",
     .crosses_hosts = false,
     .completes_at_post = true,
     .no_atomics = "a lost peer would block everybody's",
     .no_signals = "a lost peer would block everybody's",
     .no_descriptor = "it has none",
     .most_packet = 4080},
};

constexpr Quirks kNoQuirks{};

}  // namespace

std::span<const Quirks> provider_quirks() noexcept { return kQuirks; }

std::size_t preference_of(std::string_view name) noexcept {
  return static_cast<std::size_t>(std::ranges::find(kQuirks, name, &Quirks::name) - std::begin(kQuirks));
}

const Quirks& quirks_of(std::string_view name) noexcept {
  const std::size_t at = preference_of(name);
  return at < std::size(kQuirks) ? kQuirks[at] : kNoQuirks;
}

std::string_view why_no_atomics(const Quirks& quirks) noexcept {
  return quirks.name.empty() ? "nobody has tried this provider's" : quirks.no_atomics;
}

}  // namespace aqueduct::conduits::ofi
