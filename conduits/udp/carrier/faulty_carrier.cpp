#include "conduits/udp/carrier/faulty_carrier.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace aqueduct::conduits::udp {

FaultyCarrier::FaultyCarrier(std::unique_ptr<Carrier> below, const FaultPlan& plan, Clock clock,
                             std::uint64_t stream)
    : below_(std::move(below)), plan_(plan), clock_(std::move(clock)), dice_(plan.seed, stream) {
  delivered_.reserve(kMostDelivered);
  incoming_.reserve(kMostDelivered);
}

std::span<const Incoming> FaultyCarrier::receive(std::size_t most) noexcept {
  for (DelayedDatagrams::Datagram& over : delivered_) delayed_.give_back(std::move(over));
  delivered_.clear();
  incoming_.clear();

  const Time now = clock_();
  for (const Incoming& read : below_->receive(most)) {
    for (std::size_t at = 0; at < read.bytes.size(); at += read.segment) {
      admit(now, read.bytes.subspan(at, std::min(read.segment, read.bytes.size() - at)));
    }
  }
  const std::size_t room = most >= kMostDelivered / kReadDatagrams ? kMostDelivered : most * kReadDatagrams;
  while (delivered_.size() < room && delayed_.due() <= now) {
    delivered_.push_back(delayed_.take());
    incoming_.push_back({delivered_.back().span(), delivered_.back().bytes});
  }
  faults_.delivered += delivered_.size();
  return incoming_;
}

Time FaultyCarrier::deadline() const noexcept { return std::min(delayed_.due(), below_->deadline()); }

void FaultyCarrier::admit(Time now, std::span<const std::byte> datagram) noexcept {
  ++faults_.seen;
  if (plan_.mtu != 0 && datagram.size() > plan_.mtu) {
    ++faults_.too_long;
    return;
  }
  if (dice_.chance(plan_.loss)) {
    ++faults_.lost;
    return;
  }
  Time leaves = now;
  if (!pass_rate(now, datagram.size(), leaves)) {
    ++faults_.over_rate;
    return;
  }
  schedule(leaves, datagram);
  if (dice_.chance(plan_.duplicate)) {
    ++faults_.duplicated;
    schedule(leaves, datagram);
  }
}

// The simulated line sends one datagram after another. Datagrams that wait for the line form its queue.
bool FaultyCarrier::pass_rate(Time now, std::size_t bytes, Time& leaves) noexcept {
  if (plan_.rate <= 0) return true;
  const double each = static_cast<double>(kSecond) / plan_.rate;  // nanoseconds per byte
  const Time wait = std::max<Time>(0, line_free_ - now);
  if (wait != 0 &&
      static_cast<double>(wait) / each + static_cast<double>(bytes) > static_cast<double>(plan_.queue)) {
    return false;
  }
  line_free_ = now + wait + static_cast<Time>(each * static_cast<double>(bytes));
  leaves = line_free_;
  return true;
}

void FaultyCarrier::schedule(Time leaves, std::span<const std::byte> datagram) noexcept {
  Time due = leaves + plan_.delay;
  if (plan_.jitter > 0) {
    due += static_cast<Time>(dice_.below(2 * static_cast<std::uint64_t>(plan_.jitter) + 1)) - plan_.jitter;
  }
  if (dice_.chance(plan_.reorder)) {
    ++faults_.reordered;
    due += plan_.hold;
  }
  const std::span<std::byte> copy = delayed_.add(due, datagram);
  if (copy.empty()) {
    ++faults_.no_memory;
    return;
  }
  if (dice_.chance(plan_.corrupt)) flip_bits(copy);
}

// Flips one to three different bits, so the datagram always changes.
void FaultyCarrier::flip_bits(std::span<std::byte> datagram) noexcept {
  const std::size_t reach = 8 * std::min(datagram.size(), plan_.corrupt_bytes);
  if (reach == 0) return;
  ++faults_.corrupted;
  std::array<std::size_t, 3> flipped{};
  const std::size_t count = 1 + dice_.below(flipped.size());
  for (std::size_t i = 0; i < count; ++i) {
    flipped[i] = dice_.below(reach);
    const auto before = std::span(flipped).first(i);
    if (std::ranges::find(before, flipped[i]) != before.end()) continue;
    datagram[flipped[i] / 8] ^= static_cast<std::byte>(1 << flipped[i] % 8);
  }
}

}  // namespace aqueduct::conduits::udp
