#pragma once

#include "core/conduit.hpp"

#include <map>
#include <vector>

namespace aqueduct::support {

/// Records what an endpoint's conduit delivers.
struct Heard final : core::Inbox {
  std::vector<std::vector<std::byte>> packets;
  std::map<core::Token, Status> completed_ones;
  std::size_t completions = 0;
  std::vector<Signal> signals;
  std::vector<Rank> losses;

  void packet(Rank, core::Bytes bytes) noexcept override { packets.emplace_back(bytes.begin(), bytes.end()); }
  void completed(core::Token token, Status status) noexcept override {
    completed_ones[token] = status;
    ++completions;
  }
  void signalled(Rank, Signal signal) noexcept override { signals.push_back(signal); }
  void lost(Rank peer) noexcept override { losses.push_back(peer); }
};

}  // namespace aqueduct::support
