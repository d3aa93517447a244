#pragma once

#include "conduits/ibv/objects.hpp"
#include "conduits/ibv/wire.hpp"

#include <cstdint>

namespace aqueduct::conduits::ibv {

/// A reliable-connected queue pair that is not connected yet, and how many bytes its work requests carry inline. Null,
/// and errno, if the device refuses. Asks for the wanted inline bytes first, then for fewer.
struct MadePair {
  Owned<ibv_qp> pair;
  std::uint32_t inline_bytes = 0;
};
MadePair make_pair(const Verbs& verbs, const Objects& objects, const Port& port, const IbvOptions& options);

/// Connects it with a peer's queue pair: it can receive and send afterwards. Not for iWARP, where librdmacm does it.
/// Returns 0, or an errno.
int connect_pair(const Verbs& verbs, ibv_qp& pair, const Objects& objects, const Port& port,
                 const IbvOptions& options, const Address& peer, const Hello& hello, std::uint32_t first);

/// The address vector of a peer's port.
ibv_ah_attr address_vector(const Address& peer, const Port& port, const IbvOptions& options);

}  // namespace aqueduct::conduits::ibv
