#include "conduits/udp/protocol/congestion.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::conduits::udp {
namespace {

// From the BBR draft: the smallest gain that doubles the rate each round, and its inverse.
constexpr double kStartupGain = 2.885;
constexpr double kDrainGain = 1 / kStartupGain;
constexpr double kGrowth = 1.25;  // with less growth than this in three rounds the pipe is full
constexpr int kFlatRounds = 3;
// One phase probes for more bandwidth, one drains the queue that the probe built, six cruise.
constexpr std::array<double, 8> kCycle = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr std::size_t kDraining = 1;
// Slightly below the estimate, so that small errors drain queues rather than build them.
constexpr double kPacingMargin = 0.99;
constexpr double kWindowGain = 2;
constexpr std::int64_t kBandwidthRounds = 10;
constexpr Time kDelayHolds = 10 * kSecond;
constexpr Time kProbeLasts = 200 * kMillisecond;
// Chosen: a flow that joins others mistakes their standing queue for path delay, and would take more than its share for
// ten seconds. So a new flow measures the delay again after one second, then two, four ..., with a shorter probe.
constexpr Time kYoungDelayHolds = kSecond;
constexpr Time kYoungProbeLasts = 10;  // in round trips
// Chosen: a path with less delay than this is processors and memory. Its queues are too short to hide the delay, and
// probing would cost 2 % of the time.
constexpr Time kWorthProbing = 100 * kMicrosecond;

constexpr std::uint64_t kTellingPackets = 16;  // chosen: with fewer packets no loss rate is computed
constexpr double kPacedAtOnce = 1e-3;          // seconds

std::uint64_t as_bytes(double value) noexcept {
  return static_cast<std::uint64_t>(std::clamp(value, 0.0, Congestion::kUnlimited));
}

// One step of the splitmix64 sequence (Steele, Lea, Flood 2014): all seeds are good, 0 too.
std::uint64_t throw_dice(std::uint64_t& state) noexcept {
  std::uint64_t mixed = (state += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace

Congestion::Congestion(std::size_t packet, std::size_t burst, std::uint64_t seed) noexcept
    : packet_(std::max<std::size_t>(packet, 1)),
      most_burst_(burst),
      burst_(burst),
      chance_(seed),
      bandwidth_(kBandwidthRounds, 0),
      delay_holds_(kYoungDelayHolds),
      window_(first_window()) {
  settle();
}

void Congestion::set_packet(std::size_t bytes) noexcept {
  packet_ = std::max<std::size_t>(bytes, 1);
  if (!pipe_is_full_) window_ = std::max(window_, first_window());
  settle();
}

RateSnapshot Congestion::sent(Time now, std::size_t, std::uint64_t in_flight) noexcept {
  return delivery_.sent(now, in_flight);
}

void Congestion::acknowledged(Time now, std::size_t bytes, Time sent_at,
                              const RateSnapshot& snapshot) noexcept {
  delivery_.acknowledged(now, bytes, sent_at, snapshot);
}

void Congestion::acknowledged_round(Time now, Time rtt, Time least_rtt, std::uint64_t in_flight,
                                    std::uint64_t lost) noexcept {
  learn_delay(now, rtt, least_rtt);
  const RateSample sample = delivery_.take_sample(delay_);
  const bool round_begins = sample.bytes > 0 && sample.delivered_before >= round_ends_at_;
  if (round_begins) {
    round_ends_at_ = delivery_.delivered();
    ++rounds_;
  }
  loss_.note(sample.bytes, lost, in_flight, window_, kTellingPackets * packet_, round_begins);
  learn_bandwidth(sample, round_begins);
  if (sample.bytes > 0) {
    after_timeout_ = false;
    ack_aggregation_.note(now, sample.bytes, bandwidth(), window_, rounds_);
  }
  if (round_begins) {
    look_for_full_pipe(sample);
    fit_burst();
  }
  change_phase(now, in_flight, lost);
  probe_delay(now, least_rtt, in_flight, round_begins);
  grow_window(sample.bytes);
  settle();
}

void Congestion::timed_out(Time) noexcept {
  after_timeout_ = true;  // the model stays: a timeout says nothing about the path's bandwidth
  settle();
}

void Congestion::application_limited(std::uint64_t in_flight) noexcept {
  delivery_.application_limited(in_flight);
}

void Congestion::learn_delay(Time now, Time rtt, Time least_rtt) noexcept {
  if (rtt <= 0 && delay_ == 0) rtt = least_rtt;
  if (rtt <= 0) return;
  if (phase_ == Phase::probe_rtt) probe_least_ = probe_least_ == 0 ? rtt : std::min(probe_least_, rtt);
  if (delay_ != 0 && rtt > delay_) return;
  delay_ = rtt;
  delay_at_ = now;
}

// Samples of an application-limited sender count only if they exceed the estimate. They do not advance the window of
// rounds, so older samples do not expire.
void Congestion::learn_bandwidth(const RateSample& sample, bool round_begins) noexcept {
  if (round_begins && !sample.application_limited) ++bandwidth_rounds_;
  if (sample.rate <= 0) return;
  if (sample.application_limited && sample.rate < bandwidth()) return;
  bandwidth_.add(sample.rate, bandwidth_rounds_);
}

void Congestion::look_for_full_pipe(const RateSample& sample) noexcept {
  if (pipe_is_full_) return;
  if (loss_.excessive()) {
    pipe_is_full_ = true;
    return;
  }
  if (sample.application_limited || bandwidth() <= 0) return;
  if (bandwidth() >= full_bandwidth_ * kGrowth) {
    full_bandwidth_ = bandwidth();
    flat_rounds_ = 0;
  } else if (++flat_rounds_ >= kFlatRounds) {
    pipe_is_full_ = true;
  }
}

void Congestion::change_phase(Time now, std::uint64_t in_flight, std::uint64_t lost) noexcept {
  if (phase_ == Phase::startup && pipe_is_full_) phase_ = Phase::drain;
  if (phase_ == Phase::drain && static_cast<double>(in_flight) <= product()) enter_steady(now);
  if (phase_ == Phase::steady) turn_cycle(now, in_flight, lost);
}

void Congestion::enter_steady(Time now) noexcept {
  phase_ = Phase::steady;
  cycle_at_ = now;
  cycle_ = throw_dice(chance_) % (kCycle.size() - 1);  // any phase but draining: nothing has been queued yet
  if (cycle_ >= kDraining) ++cycle_;
}

void Congestion::turn_cycle(Time now, std::uint64_t in_flight, std::uint64_t lost) noexcept {
  const double flying = static_cast<double>(in_flight);
  // If sending a quantum takes longer than a round trip, the rate shows only in the time between two quanta.
  const double gap = static_cast<double>(quantum_) / std::max(bandwidth(), 1.0) * 1e9;
  const Time gaps = static_cast<Time>(std::min(gap, 1e9)) * (kCycle[cycle_] > 1 ? 2 : 1);
  bool over = now - cycle_at_ > std::max(delay_, gaps);
  // The probing phase lasts until more is in flight, or it would learn nothing. Draining ends when the queue is empty.
  if (kCycle[cycle_] > 1) over = over && (lost > 0 || flying >= kCycle[cycle_] * product());
  if (kCycle[cycle_] < 1) over = over || flying <= product();
  if (!over) return;
  cycle_ = (cycle_ + 1) % kCycle.size();
  cycle_at_ = now;
}

// The queues that the sender itself fills hide the true delay. From time to time they must run empty to measure it.
void Congestion::probe_delay(Time now, Time least_rtt, std::uint64_t in_flight, bool round_begins) noexcept {
  if (phase_ != Phase::probe_rtt) {
    if (delay_ == 0 || now - delay_at_ <= delay_holds_) return;
    if (delivery_.limited() || delay_ < kWorthProbing || allowed_ <= 2 * few_packets()) {
      if (least_rtt > 0) delay_ = least_rtt;  // the sender's own queue is a small part of it
      delay_at_ = now;
      return;
    }
    phase_ = Phase::probe_rtt;
    probe_ends_ = kNever;
    probe_least_ = 0;
    return;
  }
  delivery_.application_limited(in_flight);
  if (probe_ends_ == kNever) {
    if (in_flight > few_packets()) return;
    probe_ends_ =
        now + (delay_holds_ < kDelayHolds ? std::min(kYoungProbeLasts * delay_, kProbeLasts) : kProbeLasts);
    probe_round_done_ = false;
    round_ends_at_ = delivery_.delivered();
    return;
  }
  if (round_begins) probe_round_done_ = true;
  if (now < probe_ends_ || !probe_round_done_) return;
  // An early probe may only lower the delay, which learn_delay has done: other flows may have kept the queue filled.
  // A delay that has not been seen for ten seconds is dropped.
  if (probe_least_ > 0 && delay_holds_ == kDelayHolds)
    delay_ = least_rtt > 0 ? std::min(probe_least_, least_rtt) : probe_least_;
  delay_at_ = now;
  delay_holds_ = std::min(2 * delay_holds_, kDelayHolds);
  phase_ = Phase::startup;
  if (pipe_is_full_) enter_steady(now);
}

void Congestion::grow_window(std::uint64_t acknowledged) noexcept {
  if (phase_ == Phase::probe_rtt) return;  // the window is restored after the probe
  const double model = product();
  if (!pipe_is_full_) {
    if (model <= 0 || static_cast<double>(window_) < kStartupGain * model) window_ += acknowledged;
    return;
  }
  const double wide = phase_ == Phase::drain ? kStartupGain : kWindowGain;
  const std::uint64_t most = as_bytes(wide * model) + 3 * quantum_ + ack_aggregation_.excess();
  window_ = std::max(std::min(window_ + acknowledged, most), few_packets());
}

// A shallow queue drops the tail of each burst that is longer than the queue. So bursts become shorter, at the same
// rate.
void Congestion::fit_burst() noexcept {
  if (loss_.noticeable())
    burst_ = std::max(burst_ / 2, 2 * packet_);
  else
    burst_ = std::min(burst_ + burst_ / 16 + 1, most_burst_);
}

double Congestion::gain() const noexcept {
  switch (phase_) {
    case Phase::startup: return kStartupGain;
    case Phase::drain: return kDrainGain;
    case Phase::steady: return kCycle[cycle_];
    case Phase::probe_rtt: break;
  }
  return 1;
}

double Congestion::product() const noexcept { return bandwidth() * static_cast<double>(delay_) * 1e-9; }

// Computes once per acknowledgement what callers read before each packet.
void Congestion::settle() noexcept {
  allowed_ = std::min(window_, loss_.bytes());
  if (phase_ == Phase::probe_rtt || after_timeout_) allowed_ = few_packets();
  allowed_ = std::max(allowed_, few_packets());

  rate_ = kUnlimited;
  if (bandwidth() > 0 && delay_ > 0) {
    rate_ = bandwidth();
    // The first samples come from a few small packets. Until the pipe is full, one initial window per round trip may
    // leave at least.
    if (!pipe_is_full_)
      rate_ = std::max(rate_, static_cast<double>(first_window()) * 1e9 / static_cast<double>(delay_));
    rate_ *= gain() * kPacingMargin;
  }
  const double at_once = std::min(rate_ * kPacedAtOnce, static_cast<double>(burst_));
  quantum_ = std::max<std::size_t>(as_bytes(at_once), 2 * packet_);
}

const char* Congestion::phase() const noexcept {
  switch (phase_) {
    case Phase::startup: return "startup";
    case Phase::drain: return "drain";
    case Phase::steady: return "steady";
    case Phase::probe_rtt: break;
  }
  return "probe-rtt";
}

}  // namespace aqueduct::conduits::udp
