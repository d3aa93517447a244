#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/options.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::ibv {

/// What one endpoint uses of its device, within the device's limits.
struct Sizes {
  std::uint32_t receives = 0;  ///< posted receives, for all peers together
  std::uint32_t completions = 0;
  std::uint32_t queue =
      0;  ///< outstanding requests to all peers; `completions` has room for them and for the receives
  std::uint32_t depth = 0;   ///< outstanding requests to one peer
  std::uint32_t pieces = 1;  ///< local pieces in one work request
  std::uint8_t reads = 1;    ///< outstanding reads and atomics to one peer
  std::uint8_t answers = 1;  ///< reads and atomics of one peer that are answered in parallel
  bool atomics = false;

  // What iWARP lacks: false or 1 there.
  bool immediate = true;  ///< writes with immediate data
  bool confirms = true;   ///< a completed write has arrived; else only a completed read behind it shows that
  bool in_order =
      true;  ///< requests end in the order of their posts; else reads may end after later requests
  bool read_anywhere = true;      ///< reads may go to memory without remote write access
  std::uint32_t read_pieces = 1;  ///< local pieces in one read
  /// siw sends wrong bytes when a payload of this length or shorter crosses a page; 0: no device of this network does.
  std::uint32_t garbled = 0;

  /// How many of the bytes at `address` one request may take: all of them, or those on the first page if siw would
  /// garble them.
  std::size_t intact(std::uint64_t address, std::size_t bytes) const noexcept {
    return bytes <= garbled ? std::min(bytes, kPage - address % kPage) : bytes;
  }
  bool is_intact(core::Bytes buffer) const noexcept {
    return intact(reinterpret_cast<std::uint64_t>(buffer.data()), buffer.size()) == buffer.size();
  }
  /// Whether a read that starts here must not continue the one before it: together they might be short and cross the
  /// page.
  bool starts_read(std::uint64_t address) const noexcept { return garbled > 0 && address % kPage == 0; }

 private:
  static constexpr std::size_t kPage = 4096;  // the smallest size; larger pages end at multiples of it
};

/// The verbs objects of one endpoint, opened in this order and closed in the reverse one.
///
/// Each endpoint opens a context of its own: an endpoint belongs to one thread, and every context gets all events of
/// the device.
struct Objects {
  Owned<ibv_context> context;
  Owned<ibv_pd> domain;
  Owned<ibv_comp_channel> channel;
  Owned<ibv_cq> queue;
  Owned<ibv_srq> receives;  ///< shared receive queue; null if the device has none, or the settings forbid it
  Sizes sizes;
};

/// Datagrams for connections that have room, in each direction.
inline constexpr std::uint32_t kDatagramReceives = 64;
inline constexpr std::uint32_t kDatagramSends = 16;

/// Opens them. The log says what was refused.
Result<Objects> open_objects(const Verbs& verbs, const Port& port, const IbvOptions& options, Rank ranks,
                             Rank me, core::Log& log);

/// Takes the events of a completion channel. True: there were some.
bool empty_channel(const Verbs& verbs, ibv_comp_channel& channel) noexcept;

}  // namespace aqueduct::conduits::ibv
