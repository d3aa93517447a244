#pragma once

#include "core/network.hpp"

namespace tiny {

using namespace aqueduct;

inline constexpr std::size_t kMaxPacket = 8192;

/// One rank: a Unix datagram socket, whose name is the rank's address.
class TinyConduit final : public core::Conduit {
 public:
  /// The socket belongs to it from here on.
  TinyConduit(Rank me, int socket, core::Log& log);
  ~TinyConduit() override;

  const core::Properties& properties() const noexcept override { return properties_; }
  std::vector<std::byte> address() override;
  Status connect(std::span<const std::vector<std::byte>> addresses) override;
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override;
  int poll(core::Inbox& inbox) noexcept override;

 private:
  const Rank me_;
  const int socket_;
  core::Log& log_;
  core::Properties properties_;
  std::vector<std::vector<std::byte>> peers_;  // [rank]
  alignas(8) std::byte packet_[sizeof(std::uint64_t) + kMaxPacket];
};

}  // namespace tiny
