#include "conduits/ofi/known.hpp"

#include <algorithm>
#include <iterator>

namespace aqueduct::conduits::ofi {
namespace {

// Advertised bits are not believed where a test has shown otherwise (libfabric 1.17, Debian 12). Providers with
// hardware are believed until somebody has tried.
constexpr Known kKnown[] = {
    {.name = "cxi"},
    {.name = "opx"},
    {.name = "psm3"},
    {.name = "psm2"},
    {.name = "efa"},
    {.name = "verbs;ofi_rxm"},
    {.name = "tcp;ofi_rxm"},
    {.name = "net", .no_atomics = "every atomic call answers ENOSYS"},
    {.name = "tcp"},
    {.name = "udp;ofi_rxd", .no_atomics = "its fetching atomics crash"},
    {.name = "sockets", .progresses_by_itself = true},
    {.name = "shm", .crosses_hosts = false, .no_descriptor = "it has none"},
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

}  // namespace aqueduct::conduits::ofi
