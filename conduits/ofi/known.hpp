#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace aqueduct::conduits::ofi {

/// What is known of a provider beyond what it says of itself.
struct Known {
  std::string_view name{};            ///< as `fi_info` prints it
  bool hardware = false;              ///< a card that moves data without the system
  bool crosses_hosts = true;          ///< reaches other hosts
  bool progresses_by_itself = false;  ///< a thread of its own answers peers, whatever was asked for
  bool fills_buffers = true;          ///< one large buffer takes many packets, and comes back when it is full
  bool copies_at_once = false;  ///< a put or get is over, there and here, when the call that posts it returns
  std::string_view no_atomics{};  ///< why its atomics are not used; empty: they are, if it says it has them
  std::string_view no_signals{};  ///< why its remote completion data are not used; empty: they are
  std::string_view no_descriptor{};       ///< why it is not slept on; empty: it is
  std::uint32_t most_queue = UINT32_MAX;  ///< operations under way that it bears
  std::size_t most_packet = SIZE_MAX;     ///< a longer message is better sent in several
};

/// The providers in order of preference: networks with hardware for it, then the most complete over TCP, then others.
std::span<const Known> known_providers() noexcept;

/// What is known of a provider; of one that is not in the list: nothing, under an empty name.
const Known& known_of(std::string_view name) noexcept;

/// Why a provider's atomics are not to be used; empty: they may be.
std::string_view why_no_atomics(const Known& known) noexcept;

/// Its place in the order of preference; unknown ones come last.
std::size_t preference_of(std::string_view name) noexcept;

}  // namespace aqueduct::conduits::ofi
