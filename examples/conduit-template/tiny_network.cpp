// What a process has of the conduit, and the entry by which the library finds it.

#include "tiny_conduit.hpp"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tiny {
namespace {

class TinyNetwork final : public core::Network {
 public:
  explicit TinyNetwork(const core::Process& process) : process_(process) {}

  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int bytes = static_cast<int>(process_.config->number("tiny_buffer"));
    const sockaddr_un any{AF_UNIX, {}};
    // No name given: the system chooses one.
    if (socket < 0 || ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) != 0 ||
        ::bind(socket, reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family) != 0) {
      process_.log->error("tiny: no socket for rank {} ({}); see `ulimit -n`", me, std::strerror(errno));
      if (socket >= 0) ::close(socket);
      return ErrorCode::network_failed;
    }
    return std::unique_ptr<core::Conduit>(std::make_unique<TinyConduit>(me, socket, *process_.log));
  }

 private:
  const core::Process process_;
};

constexpr SettingInfo kSettings[] = {
    {"tiny_buffer", "AQUEDUCT_TINY_BUFFER", SettingType::bytes, "bytes", "256K",
     "Buffer to request from the system for departing packets.", 16 << 10, 64 << 20},
};

core::Usability probe(const Config&) { return {true, "needs nothing"}; }

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  return std::unique_ptr<core::Network>(std::make_unique<TinyNetwork>(process));
}

const core::ConduitEntry kEntry{
    .name = "tiny", .summary = "Unix datagram sockets", .settings = kSettings, .probe = probe, .make = make};

}  // namespace
}  // namespace tiny

extern "C" __attribute__((visibility("default"))) const aqueduct::core::ConduitEntry* aqueduct_conduit() {
  return &tiny::kEntry;
}
