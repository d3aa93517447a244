#include "conduits/udp/protocol/delivery_rate.hpp"

#include <algorithm>

namespace aqueduct::conduits::udp {

RateSnapshot DeliveryRate::sent(Time now, std::uint64_t in_flight) noexcept {
  if (in_flight == 0) {  // after idling: the pause must not count as a slow path
    first_sent_ = now;
    delivered_at_ = now;
  }
  return {delivered_, delivered_at_, first_sent_, limited()};
}

void DeliveryRate::acknowledged(Time now, std::size_t bytes, Time sent_at,
                                const RateSnapshot& snapshot) noexcept {
  if (bytes_ == 0 || snapshot.delivered > newest_.delivered ||
      (snapshot.delivered == newest_.delivered && sent_at >= newest_sent_)) {
    newest_ = snapshot;
    newest_sent_ = sent_at;
  }
  bytes_ += bytes;
  delivered_ += bytes;
  delivered_at_ = now;
}

RateSample DeliveryRate::take_sample(Time least) noexcept {
  RateSample sample;
  if (bytes_ == 0) return sample;
  sample.bytes = bytes_;
  sample.delivered_before = newest_.delivered;
  sample.application_limited = newest_.application_limited;
  const Time sending = newest_sent_ - newest_.first_sent;
  const Time acknowledging = delivered_at_ - newest_.delivered_at;
  const Time interval = std::max(sending, acknowledging);
  if (interval > 0 && interval >= least)
    sample.rate = static_cast<double>(delivered_ - newest_.delivered) * 1e9 / static_cast<double>(interval);
  first_sent_ = newest_sent_;
  bytes_ = 0;
  if (limited() && delivered_ > limited_until_) limited_until_ = 0;
  return sample;
}

void DeliveryRate::application_limited(std::uint64_t in_flight) noexcept {
  limited_until_ = std::max(delivered_ + in_flight, std::uint64_t{1});
}

}  // namespace aqueduct::conduits::udp
