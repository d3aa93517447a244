#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// State that is kept with each packet in flight, so that its acknowledgement gives a sample of the delivery rate
/// (Cheng, Cardwell et al., draft-cheng-iccrg-delivery-rate-estimation).
struct RateSnapshot {
  std::uint64_t delivered = 0;  ///< bytes delivered on this path when the packet left
  Time delivered_at = 0;        ///< when that number was reached
  Time first_sent = 0;          ///< when the first packet of the sampling interval left
  bool application_limited = false;
};

/// The sample from one acknowledgement.
struct RateSample {
  double rate = 0;                     ///< bytes per second; 0 if unknown
  std::uint64_t bytes = 0;             ///< newly acknowledged
  std::uint64_t delivered_before = 0;  ///< bytes delivered when the newest of its packets left
  bool application_limited = false;
};

/// How fast the path delivers: the bytes acknowledged between the departure of a packet and its acknowledgement,
/// divided by the time in which they were sent or the time in which they were acknowledged, whichever is longer. So
/// neither a burst nor a bunch of acknowledgements looks like a fast path.
class DeliveryRate {
 public:
  RateSnapshot sent(Time now, std::uint64_t in_flight) noexcept;
  void acknowledged(Time now, std::size_t bytes, Time sent_at, const RateSnapshot& snapshot) noexcept;
  /// One sample from all `acknowledged` calls since the last `take_sample`. An interval shorter than `least` (the least
  /// round trip) gives no rate: in that case the acknowledgement of a packet's first copy was taken for its second's.
  RateSample take_sample(Time least) noexcept;
  /// Packets sent from now until the bytes in flight have arrived say little about the path.
  void application_limited(std::uint64_t in_flight) noexcept;

  std::uint64_t delivered() const noexcept { return delivered_; }
  bool limited() const noexcept { return limited_until_ != 0; }

 private:
  std::uint64_t delivered_ = 0;
  Time delivered_at_ = 0;
  Time first_sent_ = 0;
  std::uint64_t limited_until_ = 0;  ///< a number of delivered bytes; 0: not limited

  std::uint64_t bytes_ = 0;  ///< since the last sample
  RateSnapshot newest_;      ///< of the packet among them that left last
  Time newest_sent_ = 0;
};

}  // namespace aqueduct::conduits::udp
