#pragma once

#include <aqueduct/network_model.hpp>
#include <aqueduct/rank.hpp>

#include <cstdint>
#include <vector>

namespace aqueduct {

class Endpoint;

/// Of which sizes puts to a peer are fast, if many follow one another: for programs that cut a long range into pieces. The library
/// itself cuts nothing by it. To a peer whose memory is mapped, a put is a copy.
struct PieceSizes {
  enum class Verdict : std::uint8_t {
    bad,  ///< less than half of the best bandwidth
    fair,
    good,  ///< nine tenths of it, or more
  };
  /// Sizes from `from` to `to`, both included.
  struct Range {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    Verdict verdict = Verdict::fair;

    friend bool operator==(const Range&, const Range&) = default;
  };

  /// The size to take: that of the setting, or the least good one.
  std::uint64_t piece = 0;
  /// A setting says it: AQUEDUCT_PIECE_BYTES_HOST or AQUEDUCT_PIECE_BYTES_NETWORK.
  bool is_set = false;
  /// Where the ranges come from. With `defaults` they are no more than the shape of a rough model.
  NetworkModel::Origin origin = NetworkModel::Origin::defaults;
  /// One after the other, from 8 bytes to 16 MiB. Their limits are powers of two, since the model is looked at there.
  std::vector<Range> ranges;

  /// That of a size; of one outside of all ranges, that of the nearest range.
  Verdict of(std::uint64_t bytes) const noexcept;
};

/// By what the model says of a stream of puts. May throw std::bad_alloc, as the next one.
PieceSizes piece_sizes(const NetworkModel& model);
/// Of a peer of this endpoint: by its conduit, and by whether it shares this host. Requires: there is such a rank.
PieceSizes piece_sizes(Endpoint& endpoint, Rank peer);

}  // namespace aqueduct
