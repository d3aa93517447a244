// How fast the sockets are without Aqueduct: what `aqperf am-latency --vs raw` compares tiny with.

#include "core/raw_network.hpp"
#include "tiny_conduit.hpp"

#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tiny {
namespace {

class TinyRaw final : public core::RawNetwork {
 public:
  TinyRaw(const core::RawSide& side, int socket)
      : active_(side.active), socket_(socket), message_(side.turn.bytes + 1) {}
  ~TinyRaw() override { ::close(socket_); }

  std::vector<std::byte> address() override {
    sockaddr_un name{};
    socklen_t bytes = sizeof name;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&name), &bytes);
    const auto* from = reinterpret_cast<const std::byte*>(&name);
    return {from, from + bytes};
  }
  Status connect(core::Bytes peer) override {
    sockaddr_un name{};
    std::memcpy(&name, peer.data(), peer.size());
    const auto* const to = reinterpret_cast<const sockaddr*>(&name);
    if (::connect(socket_, to, static_cast<socklen_t>(peer.size())) == 0) return {};
    return ErrorCode::network_failed;
  }
  void run(std::uint64_t turns) noexcept override {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      if (active_ && ::send(socket_, message_.data(), message_.size(), 0) < 0) return;
      if (!receive()) return;
      if (!active_ && ::send(socket_, message_.data(), message_.size(), 0) < 0) return;
    }
  }
  std::string describe() const override { return "bare Unix datagram sockets: a send there and one back"; }

 private:
  /// Polls, as the conduit does: a call that blocks would sleep.
  bool receive() noexcept {
    for (unsigned tries = 1;; ++tries) {
      if (::recv(socket_, message_.data(), message_.size(), MSG_DONTWAIT) >= 0) return true;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
      if (tries % 256 == 0) ::sched_yield();  // the peer may wait for this processor
    }
  }

  const bool active_;
  const int socket_;
  std::vector<std::byte> message_;
};

Result<std::unique_ptr<core::RawNetwork>> make_raw(const core::RawSide& side) {
  if (side.turn.kind != core::RawTurn::Kind::answer || side.turn.bytes > kMaxPacket) {
    return ErrorCode::not_supported;  // sockets have no puts and gets
  }
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_un any{AF_UNIX, {}};
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family) != 0) {
    if (socket >= 0) ::close(socket);
    return ErrorCode::network_failed;
  }
  return std::unique_ptr<core::RawNetwork>(std::make_unique<TinyRaw>(side, socket));
}

const core::RawNetworkEntry kRawEntry{.make = make_raw};

}  // namespace
}  // namespace tiny

extern "C" __attribute__((visibility("default"))) const aqueduct::core::RawNetworkEntry*
aqueduct_raw_network() {
  return &tiny::kRawEntry;
}
