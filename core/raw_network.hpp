#pragma once

#include "core/network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::core {

/// What two ranks do in one turn of a measurement. `aqperf --vs raw` compares Aqueduct with the bare network on it.
struct RawTurn {
  enum class Kind : std::uint8_t {
    put,     ///< puts, and a wait until their bytes are in the target's memory
    get,     ///< gets, and a wait for them
    answer,  ///< a message there, a message back
    atomic   ///< fetch-and-adds of 8 bytes, one after the other, on networks that have them
  };
  Kind kind = Kind::put;
  std::size_t bytes = 0;
  std::size_t window = 1;  ///< puts or gets in flight at a time
};

/// One rank's side of a measurement.
struct RawSide {
  const Config* config = nullptr;
  Log* log = nullptr;
  Rank me = 0;
  Rank peer = 0;
  bool active = false;  ///< begins the operations; the other side is their target
  RawTurn turn;
};

/// The bare network between two ranks: the network's own calls, without Aqueduct above them.
///
/// Both ranks make one, exchange addresses, connect, and call `run` with the same numbers.
class RawNetwork {
 public:
  /// The longest address, in bytes.
  static constexpr std::size_t kMostAddress = 240;

  virtual ~RawNetwork() = default;
  /// The bytes that the peer needs to connect: at most kMostAddress.
  virtual std::vector<std::byte> address() = 0;
  virtual Status connect(Bytes peer) = 0;
  /// Carries out `turns` turns of `window` operations each. Both ranks call it; the first call may come long before the
  /// peer's. Returns at the active rank when the last turn is complete, at the other rank when the active one no longer
  /// needs it.
  virtual void run(std::uint64_t turns) noexcept = 0;
  /// The calls that are measured, in words: "RDMA writes, one doorbell for a window".
  virtual std::string describe() const = 0;
};

/// The result of a plug-in's `aqueduct_raw_network`: the bare network under the conduit of the same plug-in.
struct RawNetworkEntry {
  std::uint32_t interface_version = kConduitInterface;
  /// Errors: not_supported (not this kind of turn, or not of that size).
  Result<std::unique_ptr<RawNetwork>> (*make)(const RawSide&) = nullptr;
};

/// The symbol that a plug-in may export: `extern "C" const aqueduct::core::RawNetworkEntry* aqueduct_raw_network();`
using RawNetworkFunction = const RawNetworkEntry* (*)();
inline constexpr const char* kRawNetworkSymbol = "aqueduct_raw_network";

}  // namespace aqueduct::core
