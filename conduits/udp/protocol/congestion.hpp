#pragma once

#include "conduits/udp/carrier/time.hpp"
#include "conduits/udp/protocol/ack_aggregation.hpp"
#include "conduits/udp/protocol/delivery_rate.hpp"
#include "conduits/udp/protocol/loss_bound.hpp"
#include "conduits/udp/protocol/windowed_best.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace aqueduct::conduits::udp {

/// Congestion control: how many bytes may be in flight to one peer, and at which rate they leave. Model-based like BBR
/// (Cardwell et al. 2016; draft-cardwell-iccrg-bbr-congestion-control): bandwidth = windowed maximum of delivery-rate
/// samples, delay = least round trip of 10 s. Loss alone does not slow it down until it is heavy, so with 1 % of random
/// loss a path stays fully used.
class Congestion {
 public:
  /// rate() while nothing is known: only the window limits the sender.
  static constexpr double kUnlimited = 1e18;

  /// `packet`: bytes of a full packet. `burst`: the most bytes that leave in one system call. `seed`: a different one
  /// for each peer, so that flows do not probe for bandwidth in step.
  Congestion(std::size_t packet, std::size_t burst, std::uint64_t seed = 1) noexcept;

  void set_packet(std::size_t bytes) noexcept;  ///< the path's MTU changed
  /// A packet leaves now; `in_flight`: bytes in flight before it.
  RateSnapshot sent(Time now, std::size_t bytes, std::uint64_t in_flight) noexcept;
  /// A packet was acknowledged. Call for each, then `acknowledged_round` once for the whole acknowledgement.
  void acknowledged(Time now, std::size_t bytes, Time sent_at, const RateSnapshot& snapshot) noexcept;
  /// `rtt`: 0 if this acknowledgement gave no sample. `lost`: bytes found lost by it.
  void acknowledged_round(Time now, Time rtt, Time least_rtt, std::uint64_t in_flight,
                          std::uint64_t lost) noexcept;
  /// The retransmission timer has fired. Everything in flight counts as lost.
  void timed_out(Time now) noexcept;
  /// There is nothing more to send although the window has room. The next samples say nothing about the path.
  void application_limited(std::uint64_t in_flight) noexcept;

  std::uint64_t window() const noexcept { return allowed_; }  ///< bytes that may be in flight
  double rate() const noexcept { return rate_; }              ///< bytes per second that may leave; pacing
  /// The estimate, in bytes per second; 0 when unknown.
  double bandwidth() const noexcept { return bandwidth_.best(); }
  std::size_t quantum() const noexcept { return quantum_; }  ///< bytes that may leave at once, paced as one
  const char* phase() const noexcept;  ///< "startup", "drain", "steady", "probe-rtt": for statistics

 private:
  enum class Phase : std::uint8_t { startup, drain, steady, probe_rtt };

  void learn_delay(Time now, Time rtt, Time least_rtt) noexcept;
  void learn_bandwidth(const RateSample& sample, bool round_begins) noexcept;
  void look_for_full_pipe(const RateSample& sample) noexcept;
  void change_phase(Time now, std::uint64_t in_flight, std::uint64_t lost) noexcept;
  void enter_steady(Time now) noexcept;
  void turn_cycle(Time now, std::uint64_t in_flight, std::uint64_t lost) noexcept;
  void probe_delay(Time now, Time least_rtt, std::uint64_t in_flight, bool round_begins) noexcept;
  void grow_window(std::uint64_t acknowledged) noexcept;
  void fit_burst() noexcept;
  void settle() noexcept;
  double gain() const noexcept;
  double product() const noexcept;  ///< bandwidth times delay, in bytes; 0 when unknown
  std::uint64_t few_packets() const noexcept { return 4 * packet_; }
  std::uint64_t first_window() const noexcept { return 10 * packet_; }

  std::uint64_t packet_;
  std::uint64_t most_burst_;  ///< the system's limit
  std::uint64_t burst_;       ///< the path's limit: what its queues take at once
  std::uint64_t chance_;      ///< state of a random generator

  DeliveryRate delivery_;
  WindowedBest<double, std::greater<>> bandwidth_;
  std::int64_t bandwidth_rounds_ = 0;  ///< the clock of that window: rounds that were not application-limited
  Time delay_ = 0;                     ///< 0: unknown
  Time delay_at_ = 0;                  ///< when it was last measured
  AckAggregation ack_aggregation_;
  LossBound loss_;

  Phase phase_ = Phase::startup;
  std::int64_t rounds_ = 0;
  /// In delivered bytes: packets that leave from then on belong to the next round.
  std::uint64_t round_ends_at_ = 0;
  double full_bandwidth_ = 0;  ///< startup: bandwidth at the last growth
  int flat_rounds_ = 0;        ///< startup: rounds without growth
  bool pipe_is_full_ = false;

  std::size_t cycle_ = 0;
  Time cycle_at_ = 0;

  Time delay_holds_;          ///< the delay is measured again after this time
  Time probe_ends_ = kNever;  ///< probe-rtt: set once the pipe is empty
  Time probe_least_ = 0;
  bool probe_round_done_ = false;

  bool after_timeout_ = false;
  std::uint64_t window_;       ///< from the model alone
  std::uint64_t allowed_ = 0;  ///< with all bounds
  double rate_ = kUnlimited;
  std::size_t quantum_ = 0;
};

}  // namespace aqueduct::conduits::udp
