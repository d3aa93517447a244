#include "conduits/ofi/known.hpp"

#include <algorithm>
#include <iterator>

namespace aqueduct::conduits::ofi {
namespace {

// Advertised bits are not believed where a test has shown otherwise (libfabric 1.17, Debian 12). Providers with
// hardware are believed until somebody has tried. Of those that are not in the list atomics are not, which would be wrong
// in silence.
constexpr Known kKnown[] = {
    {.name = "cxi", .hardware = true},
    {.name = "opx", .hardware = true},
    {.name = "psm3", .hardware = true},
    {.name = "psm2", .hardware = true},
    {.name = "efa", .hardware = true},
    // Its layer does atomics by messages as the owner does, not in the card; asked for them, it refuses to register a local
    // buffer beside which another is registered ("Required key not available": the card's key is that of both).
    {.name = "verbs;ofi_rxm",
     .hardware = true,
     .no_atomics = "they would be messages too, and cost it registrations"},
    // Those over tcp say that a buffer of many packets is done with when its last piece has arrived, though others may still
    // be arriving from other peers: what came next lay over them (between hosts, in 4 of 60 storms of 7,200 packets of 8 KiB).
    // So until libfabric's pull request 9420, of October 2023.
    {.name = "tcp;ofi_rxm", .fills_buffers = false},
    {.name = "net",
     .fills_buffers = false,
     .no_atomics = "every atomic call answers ENOSYS",
     .no_descriptor = "arrivals do not end a sleep on its descriptor"},
    {.name = "tcp", .fills_buffers = false},
    // One datagram each, and few: what overflows a socket's buffer is sent again a fifth of a second later.
    {.name = "udp;ofi_rxd",
     .no_atomics = "its fetching atomics crash",
     .most_queue = 32,
     .most_packet = 1248},
    {.name = "sockets", .progresses_by_itself = true, .fills_buffers = false},
    // It takes answers in the order of its questions: one that a dead peer owes keeps back all others' for good. So
    // nothing is used that is answered; plain puts and gets are copies by the system, and short packets are left in the
    // peer's queue.
    {.name = "shm",
     .crosses_hosts = false,
     .copies_at_once = true,
     .no_atomics = "a lost peer would block everybody's",
     .no_signals = "a lost peer would block everybody's",
     .no_descriptor = "it has none",
     .most_packet = 4080},
};

constexpr Known kUnknown{};

}  // namespace

std::span<const Known> known_providers() noexcept { return kKnown; }

std::size_t preference_of(std::string_view name) noexcept {
  return static_cast<std::size_t>(std::ranges::find(kKnown, name, &Known::name) - std::begin(kKnown));
}

const Known& known_of(std::string_view name) noexcept {
  const std::size_t at = preference_of(name);
  return at < std::size(kKnown) ? kKnown[at] : kUnknown;
}

std::string_view why_no_atomics(const Known& known) noexcept {
  return known.name.empty() ? "nobody has tried this provider's" : known.no_atomics;
}

}  // namespace aqueduct::conduits::ofi
