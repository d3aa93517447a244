// Which sizes of pieces are fast, by a model of the network.

#include <aqueduct/endpoint.hpp>
#include <aqueduct/piece_sizes.hpp>

#include "core/endpoint_state.hpp"

#include <algorithm>

namespace aqueduct {

namespace {

constexpr std::uint64_t kLeast = 8;
constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
// Shares of the best bandwidth, in percent. Chosen: the first as for NetworkModel::peak_bytes.
constexpr double kGood = 90;
constexpr double kBad = 50;

/// Bytes in a picosecond, of a stream of puts of this size.
double bandwidth(const NetworkModel& model, std::uint64_t bytes) noexcept {
  const auto time = static_cast<double>(std::max<std::int64_t>(model.put_interval(bytes).count(), 1));
  return static_cast<double>(bytes) / time;
}

PieceSizes::Verdict verdict_of(double percent) noexcept {
  if (percent >= kGood) return PieceSizes::Verdict::good;
  return percent < kBad ? PieceSizes::Verdict::bad : PieceSizes::Verdict::fair;
}

}  // namespace

PieceSizes::Verdict PieceSizes::of(std::uint64_t bytes) const noexcept {
  Verdict found = Verdict::fair;
  for (const Range& range : ranges) {
    if (bytes >= range.from || &range == &ranges.front()) found = range.verdict;
  }
  return found;
}

PieceSizes piece_sizes(const NetworkModel& model) {
  PieceSizes out;
  out.origin = model.origin;
  double best = 0;
  for (std::uint64_t bytes = kLeast; bytes <= kMost; bytes *= 2)
    best = std::max(best, bandwidth(model, bytes));
  for (std::uint64_t bytes = kLeast; bytes <= kMost; bytes *= 2) {
    const PieceSizes::Verdict verdict = verdict_of(100 * bandwidth(model, bytes) / best);
    if (verdict == PieceSizes::Verdict::good && out.piece == 0) out.piece = bytes;
    const std::uint64_t to = bytes == kMost ? kMost : 2 * bytes - 1;
    if (!out.ranges.empty() && out.ranges.back().verdict == verdict)
      out.ranges.back().to = to;
    else
      out.ranges.push_back({bytes, to, verdict});
  }
  return out;
}

PieceSizes piece_sizes(Endpoint& endpoint, Rank peer) {
  const detail::EndpointState& state = endpoint.state();
  if (peer >= state.ranks) return piece_sizes(NetworkModel{});
  const bool same_host = state.host_of[peer] == state.host_of[state.rank];
  PieceSizes out = piece_sizes(endpoint.network_model(peer));
  const std::int64_t set = state.config.number(same_host ? "piece_bytes_host" : "piece_bytes_network");
  if (set != 0) {
    out.piece = static_cast<std::uint64_t>(set);
    out.is_set = true;
  }
  return out;
}

}  // namespace aqueduct
