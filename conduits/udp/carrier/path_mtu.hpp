#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <cstddef>

namespace aqueduct::conduits::udp {

/// A datagram of this size (UDP payload bytes) passes every path between interfaces that carry it. Chosen, as by QUIC (RFC 9000).
inline constexpr std::size_t kBaseMtu = 1200;

/// Path MTU discovery as in RFC 8899 (DPLPMTUD): finds the largest datagram (UDP payload bytes) that reaches one
/// peer. Starts at a size that every path carries, sends padded probes of larger sizes, and falls back when large
/// packets vanish.
///
/// Probes the hint first, then well-known sizes from the largest down, then the middle between the largest size that
/// works and the smallest that does not, until these are 16 bytes apart. Sizes are multiples of 8. Three probes
/// without an answer mean that a size does not work. Ten minutes after a search has ended another begins, upwards
/// only: the path's MTU may have grown.
class PathMtu {
 public:
  /// `base`: a size that always works (kBaseMtu). `limit`: the most that the socket and the setting allow. `hint`: the
  /// interface's MTU according to the kernel, probed first; 0 if unknown. The first search probes nothing above a known
  /// hint.
  PathMtu(std::size_t base, std::size_t limit, std::size_t hint) noexcept;

  std::size_t base() const noexcept { return base_; }
  std::size_t size() const noexcept { return good_; }  ///< the largest size that is known to work
  /// The size to probe now, or 0. Asked only when there is traffic; at most one probe is in flight.
  std::size_t probe_due(Time now) noexcept;
  void probe_sent(Time now, std::size_t bytes) noexcept;
  /// The peer has answered a probe. An answer to any but the latest probe is ignored.
  void probe_arrived(Time now, std::size_t bytes) noexcept;
  /// When the probe in flight times out: after the `timeout` of the last expire(), or 1 s before the first. kNever if
  /// no probe is in flight.
  Time deadline() const noexcept { return in_flight_ ? sent_at_ + patience_ : kNever; }
  /// Gives up the probe in flight if it is older than `timeout`.
  void expire(Time now, Time timeout) noexcept;
  /// Packets of this size were lost again and again while smaller ones arrive, or the system refused to send them
  /// (EMSGSIZE). If the size was in use: back to base, then a search below that size. If it was only probed: it does
  /// not work.
  void black_hole(Time now, std::size_t bytes) noexcept;

 private:
  std::size_t candidate() const noexcept;
  void begin(std::size_t most) noexcept;

  std::size_t base_;
  std::size_t limit_;
  std::size_t hint_;
  std::size_t good_;        ///< the largest size that works
  std::size_t bad_ = 0;     ///< the smallest size that this search found not to work
  std::size_t probed_ = 0;  ///< the latest probe; kept after its timeout, because the answer may be late
  bool in_flight_ = false;
  int tries_ = 0;  ///< probes of the candidate without an answer
  Time sent_at_ = 0;
  Time patience_ = kSecond;
  Time raise_at_ = kNever;  ///< when the next search begins; set while none is going on
};

}  // namespace aqueduct::conduits::udp
