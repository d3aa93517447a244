#include "tools/aqperf/raw/raw_sockets.hpp"

#include "tools/aqperf/raw/socket_meeting.hpp"
#include "tools/aqperf/raw/tcp_stream.hpp"
#include "tools/aqperf/raw/udp_flood.hpp"
#include "tools/aqperf/raw/udp_ping_pong.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

namespace aqueduct::perf {

namespace {

using namespace std::chrono_literals;

/// Chosen: long enough to distinguish datagram sizes whose rates differ by more than a tenth.
constexpr auto kProbe = 20ms;
constexpr std::size_t kHeaders = 48;  // specified: IPv6 and UDP; IPv4 has 20 less

const char* const kNoAddress = "none: no address for bare sockets; AQUEDUCT_UDP_INTERFACE names one";

/// The longest datagram that needs no fragments on any of the ranks' paths.
std::size_t longest_datagram(Session& session, const std::optional<BareSocket>& socket) {
  int mtu = INT32_MAX;
  if (socket) {
    const bool ipv6 = socket->address().raw.ss_family == AF_INET6;
    mtu = ipv6 ? socket->value(IPPROTO_IPV6, IPV6_MTU) : socket->value(IPPROTO_IP, IP_MTU) + 20;
  }
  const auto all = session.exchange(mtu);
  const auto least = static_cast<std::size_t>(std::max(1280, *std::min_element(all.begin(), all.end())));
  return std::min(least - kHeaders, UdpFlood::kMostSegment);
}

/// Both sides of a flood of datagrams of `segment` bytes; null without a peer, or where the kernel cannot do it.
std::shared_ptr<UdpFlood> make_flood(SocketMeeting& meeting, const Patience& patience, bool sends,
                                     std::size_t segment) {
  std::optional<BareSocket> socket = meeting.datagrams();
  if (!socket) return nullptr;
  try {
    return std::make_shared<UdpFlood>(std::move(*socket), sends, segment, patience);
  } catch (const Failure&) {
    return nullptr;  // the row says what is missing
  }
}

Subject subject_of(std::shared_ptr<UdpFlood> flood, bool records, std::size_t bytes, std::size_t operations) {
  return {[flood = std::move(flood), bytes](std::uint64_t turns) {
            if (flood) flood->run(turns * bytes);
          },
          records, static_cast<double>(operations)};
}

Subject tcp_subject(SocketMeeting& meeting, Role role, bool sends,
                    std::function<void(TcpStream&, std::uint64_t)> turn, const Patience& patience,
                    double operations) {
  std::optional<BareSocket> socket = meeting.stream();
  std::shared_ptr<TcpStream> stream;
  if (socket) stream = std::make_shared<TcpStream>(std::move(*socket), sends, patience);
  return {[stream, turn = std::move(turn)](std::uint64_t turns) {
            if (stream) turn(*stream, turns);
          },
          role.active, operations};
}

}  // namespace

bool over_sockets(Session& session, Role role) {
  const bool alone = role.peer == kNoRank || role.peer == session.rank();
  const bool mine = alone ? role.peer == kNoRank : session.ep().conduit_of(role.peer) == "udp";
  return session.ranks() > 1 && session.everyone(mine);
}

Raw raw_round_trip(Session& session, Role role, std::size_t there, std::size_t back) {
  SocketMeeting meeting(session, role);
  if (!meeting.possible()) return {std::nullopt, kNoAddress};
  const Patience patience(session, Patience::kRounds);
  Raw raw{std::nullopt, "none: longer than a UDP datagram (raw_tcp: bare TCP there and back)"};
  if (std::max(there, back) <= UdpPingPong::kMostBytes) {
    std::optional<BareSocket> socket = meeting.datagrams();
    std::shared_ptr<UdpPingPong> udp;
    if (socket) udp = std::make_shared<UdpPingPong>(std::move(*socket), role.active, there, back, patience);
    raw.subject = Subject{[udp](std::uint64_t turns) {
                            if (udp) udp->run(turns);
                          },
                          role.active};
    raw.what = "bare UDP datagrams there and back (raw_tcp: bare TCP)";
  }
  const auto turn = [there, back](TcpStream& stream, std::uint64_t turns) {
    stream.ping_pong(std::max<std::size_t>(1, there), std::max<std::size_t>(1, back), turns);
  };
  raw.more.emplace_back("tcp", tcp_subject(meeting, role, role.active, turn, patience, 1));
  return raw;
}

Raw raw_flood(Session& session, Role role, const SocketFlood& flood) {
  SocketMeeting meeting(session, role);
  if (!meeting.possible()) return {std::nullopt, kNoAddress};
  const Patience patience(session, Patience::kRounds);
  const std::size_t longest = longest_datagram(session, meeting.datagrams());
  const std::size_t one = std::max(flood.bytes, UdpFlood::kLeastSegment);
  const std::size_t turn_bytes = one * flood.operations;
  const bool sends = role.active == flood.active_sends;
  // Kernels differ in which size is fastest, so several are tried, unless the operation fixes the size.
  std::vector<std::size_t> sizes{std::min(one, longest)};
  if (!flood.one_datagram_each)
    sizes = {std::min<std::size_t>(1452, longest), std::min<std::size_t>(8192, longest), longest};
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());

  Raw raw{std::nullopt, "none: this kernel cannot split and join UDP datagrams (UDP_SEGMENT, UDP_GRO)"};
  double best_ns = 0;
  std::size_t best = 0;
  for (const std::size_t size : sizes) {
    auto made = make_flood(meeting, patience, sends, size);
    const bool lacks = role.peer != kNoRank && made == nullptr;
    if (!session.everyone(!lacks)) continue;
    Subject subject = subject_of(std::move(made), role.active, turn_bytes, flood.operations);
    double longest_ns = 0;
    Samples samples = sizes.size() == 1 ? Samples{1} : run_trial(session, subject, kProbe, longest_ns);
    const double ns = session.share(median(samples));
    if (best != 0 && ns >= best_ns) continue;
    best_ns = ns;
    best = size;
    raw.subject = std::move(subject);
  }
  if (raw.subject) {
    raw.what = "bare UDP datagrams of " + std::to_string(best) + " bytes, split and joined by the kernel";
  }
  if (flood.one_datagram_each) return raw;
  const auto turn = [turn_bytes](TcpStream& stream, std::uint64_t turns) {
    stream.flood(turns * turn_bytes);
  };
  raw.more.emplace_back(
      "tcp", tcp_subject(meeting, role, sends, turn, patience, static_cast<double>(flood.operations)));
  raw.what += " (raw_tcp: bare TCP, 256 KiB a call)";
  return raw;
}

}  // namespace aqueduct::perf
