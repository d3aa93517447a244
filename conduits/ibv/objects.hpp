#pragma once

#include "conduits/ibv/device.hpp"
#include "conduits/ibv/options.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

namespace aqueduct::conduits::ibv {

/// What of a device's limits one endpoint uses.
struct Sizes {
  std::uint32_t receives = 0;  ///< messages for which there may be room, from all peers
  std::uint32_t completions = 0;
  std::uint32_t queue =
      0;  ///< work requests under way at once, to all peers: with the receives, what `completions` holds
  std::uint32_t depth = 0;   ///< to one peer
  std::uint32_t pieces = 1;  ///< of local memory in one work request
  std::uint8_t reads = 1;    ///< reads and atomics under way at once, to one peer
  std::uint8_t answers = 1;  ///< of one peer that are answered at once
  bool atomics = false;

  // What iWARP lacks.
  bool immediate = true;  ///< a number beside a write, which the peer's processor gets
  bool confirms =
      true;  ///< the end of a write says that its bytes have arrived; else only a later read's does
  bool in_order =
      true;  ///< requests end in the order in which they began; else reads may end after those behind
  bool read_anywhere = true;      ///< what a read brings goes to memory that peers may not write to
  std::uint32_t read_pieces = 1;  ///< of local memory in one read
};

/// One endpoint's objects of the library, opened in order and closed in the reverse one.
///
/// Each endpoint has a context of its own: it belongs to one thread, and events of the device come to all.
struct Objects {
  Owned<ibv_context> context;
  Owned<ibv_pd> domain;
  Owned<ibv_comp_channel> channel;
  Owned<ibv_cq> queue;
  Owned<ibv_srq> receives;  ///< null where the device has none, or is not to use one
  Sizes sizes;
};

/// Messages that ranks say to each other before they are connected, under way in one direction.
inline constexpr std::uint32_t kDatagramReceives = 64;
inline constexpr std::uint32_t kDatagramSends = 16;

/// Opens them. The log says what was refused.
Result<Objects> open_objects(const Verbs& verbs, const Port& port, const IbvOptions& options, Rank ranks,
                             Rank me, core::Log& log);

/// Takes what a completion channel says. True: it has said something.
bool empty_channel(const Verbs& verbs, ibv_comp_channel& channel) noexcept;

}  // namespace aqueduct::conduits::ibv
