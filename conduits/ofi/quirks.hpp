#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace aqueduct::conduits::ofi {

/// The differences between a provider's behaviour and the capabilities that it advertises.
struct Quirks {
  std::string_view name{};            ///< as fi_info prints it
  bool hardware = false;              ///< a network card that moves data without the system
  bool crosses_hosts = true;          ///< reaches other hosts
  bool progresses_by_itself = false;  ///< its own thread answers peers even if manual progress was asked for
  bool fills_buffers = true;       ///< FI_MULTI_RECV works: one large buffer takes packets until it is full
  bool completes_at_post = false;  ///< puts and gets are complete, on both sides, when their post returns
  std::string_view
      no_atomics{};  ///< why its atomics are not used; empty: they are used if it advertises them
  std::string_view no_signals{};          ///< why FI_REMOTE_CQ_DATA is not used; empty: it is
  std::string_view no_descriptor{};       ///< why waits do not sleep on its descriptor; empty: they do
  std::uint32_t most_queue = UINT32_MAX;  ///< outstanding operations that it can handle
  std::size_t most_packet = SIZE_MAX;     ///< longer messages are better split
};

/// The providers in order of preference: first those for network hardware, then the most complete one over TCP, then
/// the others.
std::span<const Quirks> provider_quirks() noexcept;

/// A provider's entry; for one that is not in the list an entry without quirks and with an empty name.
const Quirks& quirks_of(std::string_view name) noexcept;

/// Why a provider's atomics must not be used; empty: they may be used.
std::string_view why_no_atomics(const Quirks& quirks) noexcept;

/// Its place in the order of preference; unknown ones come last.
std::size_t preference_of(std::string_view name) noexcept;

}  // namespace aqueduct::conduits::ofi
