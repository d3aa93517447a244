#pragma once

#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/wire.hpp"

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// A reliable-connected queue pair, not yet connected, and how many bytes it takes inside a work request; null, and
/// errno. Asks for `inline_bytes`, and for less if that is too many for the device.
struct MadePair {
  Owned<ibv_qp> pair;
  std::uint32_t inline_bytes = 0;
};
MadePair make_pair(const Verbs& verbs, const Objects& objects, const Port& port, const IbvOptions& options);

/// Connects it with a peer's, except over iWARP, where librdmacm does: it listens then, and may send. 0, or an errno.
int connect_pair(const Verbs& verbs, ibv_qp& pair, const Objects& objects, const Port& port,
                 const IbvOptions& options, const Address& peer, const Hello& hello, std::uint32_t first);

/// The way to a peer's port.
ibv_ah_attr address_vector(const Address& peer, const Port& port, const IbvOptions& options);

}  // namespace aqueduct::conduits::ibv
