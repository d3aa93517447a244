#include "tools/aqperf/raw/udp_ping_pong.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::perf {

namespace {

using namespace std::chrono_literals;

// Chosen: far above any round trip here, so that only lost datagrams are sent again.
constexpr auto kResend = 10ms;
// Chosen: a side that hears nothing for this long treats the turn as lost and goes
//         on; the passive side waits longest.
constexpr auto kActiveGivesUp = 200ms;
constexpr auto kPassiveGivesUp = 1000ms;

}  // namespace

UdpPingPong::UdpPingPong(BareSocket connected, bool active, std::size_t there, std::size_t back,
                         Patience patience)
    : socket_(std::move(connected)),
      patience_(patience),
      active_(active),
      out_(std::clamp(active ? there : back, kLeastBytes, kMostBytes)),
      in_(std::clamp(active ? back : there, kLeastBytes, kMostBytes)) {}

void UdpPingPong::run(std::uint64_t turns) {
  const std::uint64_t last = turn_ + turns;
  while (turn_ < last) {
    if (active_) {
      ask();
    } else {
      answer(last);
    }
  }
}

void UdpPingPong::ask() {
  send(++turn_);
  Silence silence;
  patience_.until([&] {
    if (receive() == turn_) return true;
    if (!silence.lasts_another(kResend)) return false;
    if (silence.length() >= kActiveGivesUp) return true;
    send(turn_);
    return false;
  });
}

void UdpPingPong::answer(std::uint64_t last) {
  Silence silence;
  patience_.until([&] {
    if (const std::uint64_t asked = receive(); asked != 0) {
      // An earlier turn: its answer was lost. A later turn: the active side has given up this one.
      send(asked);
      silence.end();
      if (asked <= turn_) return false;
      turn_ = std::min(asked, last);
      return true;
    }
    if (!silence.lasts_another(kResend) || silence.length() < kPassiveGivesUp) return false;
    turn_ = last;
    return true;
  });
}

void UdpPingPong::send(std::uint64_t turn) noexcept {
  std::memcpy(out_.data(), &turn, sizeof turn);
  // A datagram that the system does not accept counts as lost by the network.
  static_cast<void>(::send(socket_.get(), out_.data(), out_.size(), 0));
}

std::uint64_t UdpPingPong::receive() noexcept {
  if (::recv(socket_.get(), in_.data(), in_.size(), 0) < static_cast<ssize_t>(kLeastBytes)) return 0;
  std::uint64_t turn = 0;
  std::memcpy(&turn, in_.data(), sizeof turn);
  return turn;
}

}  // namespace aqueduct::perf
