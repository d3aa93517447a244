#pragma once

#include "conduits/udp/time.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// What is kept with each packet in flight so that its acknowledgement gives a sample of the delivery rate
/// (Cheng, Cardwell et al., draft-cheng-iccrg-delivery-rate-estimation).
struct RateMark {
  std::uint64_t delivered = 0;  ///< bytes delivered on this path when the packet left
  Time delivered_at = 0;        ///< when that number was reached
  Time first_sent = 0;          ///< when the packet left that began that flight
  bool application_limited = false;
};

/// What one acknowledgement says.
struct RateSample {
  double rate = 0;                     ///< bytes per second; 0 if it cannot be said
  std::uint64_t bytes = 0;             ///< newly acknowledged
  std::uint64_t delivered_before = 0;  ///< when the newest of its packets left
  bool application_limited = false;
};

/// How fast the path delivers: bytes acknowledged between a packet's leaving and its acknowledgement, over the longer
/// of the time in which they were sent and the time in which they were acknowledged, so that neither a burst nor
/// acknowledgements that come in a bunch look like a fast path.
class DeliveryRate {
 public:
  RateMark sent(Time now, std::uint64_t in_flight) noexcept;
  void acknowledged(Time now, std::size_t bytes, Time sent_at, const RateMark& mark) noexcept;
  /// What all `acknowledged` since the last call say together. An interval shorter than `least` (the least round trip)
  /// gives no rate: then an acknowledgement of a packet's first copy was taken for that of its second.
  RateSample take_sample(Time least) noexcept;
  /// What is sent from now until the bytes in flight have arrived says little about the path.
  void application_limited(std::uint64_t in_flight) noexcept;

  std::uint64_t delivered() const noexcept { return delivered_; }
  bool limited() const noexcept { return limited_until_ != 0; }

 private:
  std::uint64_t delivered_ = 0;
  Time delivered_at_ = 0;
  Time first_sent_ = 0;
  std::uint64_t limited_until_ = 0;  ///< a number of delivered bytes; 0: not limited

  std::uint64_t bytes_ = 0;  ///< since the last sample
  RateMark newest_;          ///< of the packet among them that left last
  Time newest_sent_ = 0;
};

}  // namespace aqueduct::conduits::udp
