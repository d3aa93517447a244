#pragma once

#include "conduits/udp/time.hpp"

#include <cstddef>

namespace aqueduct::conduits::udp {

/// The largest datagram (UDP payload bytes) that gets through to one peer, found as in RFC 8899 (DPLPMTUD): starts at
/// a size that every path carries, sends padded probes upwards, and falls back when large packets vanish.
///
/// The hint is probed first, then well-known sizes from above, then the middle between what works and what does not, until
/// the two are 16 bytes apart. Sizes are multiples of 8. Three probes without an answer mean that a size does not work;
/// ten minutes after a search has ended another begins, upwards only, for the path may have grown.
class PathMtu {
 public:
  /// `base`: always works (1200). `limit`: the most that a socket sends, and what the setting allows. `hint`: what
  /// the kernel says of the interface or route, tried first; 0 if unknown. Until the first search has ended
  /// nothing above a known hint is tried.
  PathMtu(std::size_t base, std::size_t limit, std::size_t hint) noexcept;

  std::size_t size() const noexcept { return good_; }  ///< the largest that is known to work
  /// The size to probe now, or 0. Asked only when there is traffic; at most one probe is in flight.
  std::size_t probe_due(Time now) noexcept;
  void probe_sent(Time now, std::size_t bytes) noexcept;
  /// The peer has said so. Anything but an answer to the latest probe is ignored.
  void probe_arrived(Time now, std::size_t bytes) noexcept;
  /// When to look again at a probe without answer, by the last `timeout` that expire() was given (1 s before); kNever
  /// if none is in flight.
  Time deadline() const noexcept { return in_flight_ ? sent_at_ + patience_ : kNever; }
  void expire(Time now, Time timeout) noexcept;  ///< looks for a probe without answer for `timeout`
  /// Packets of this size were lost again and again while smaller ones arrive, or the system refused to send them
  /// (EMSGSIZE): back to base, then upwards again, below that size. Of a size that was only probed: it does not work.
  void black_hole(Time now, std::size_t bytes) noexcept;

 private:
  std::size_t candidate() const noexcept;
  void begin(std::size_t most) noexcept;

  std::size_t base_;
  std::size_t limit_;
  std::size_t hint_;
  std::size_t good_;        ///< the largest that works
  std::size_t bad_ = 0;     ///< the smallest that does not, as far as this search knows
  std::size_t probed_ = 0;  ///< the latest probe; stays after it has expired, for its answer may be late
  bool in_flight_ = false;
  int tries_ = 0;  ///< probes of the candidate that had no answer
  Time sent_at_ = 0;
  Time patience_ = kSecond;
  Time raise_at_ = kNever;  ///< set while no search is going on
};

}  // namespace aqueduct::conduits::udp
