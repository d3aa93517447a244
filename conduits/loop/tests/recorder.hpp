#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {

/// An inbox that records its calls, in order.
struct Recorder final : core::Inbox {
  void packet(Rank from, core::Bytes bytes) noexcept override {
    packets.emplace_back(from, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    aligned = aligned && reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0;
  }
  void completed(core::Token token, Status status) noexcept override { ends.emplace_back(token, status); }
  void signalled(Rank from, Signal signal) noexcept override { signals.emplace_back(from, signal); }
  void lost(Rank peer) noexcept override { losses.push_back(peer); }

  std::vector<std::pair<Rank, std::string>> packets;
  std::vector<std::pair<core::Token, Status>> ends;
  std::vector<std::pair<Rank, Signal>> signals;
  std::vector<Rank> losses;
  bool aligned = true;
};

inline core::Bytes bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

template <class T>
core::Bytes bytes_of_value(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace aqueduct::conduits::loop
