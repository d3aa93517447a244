#include "tests/conformance/conduit_bench.hpp"

#include <algorithm>
#include <numeric>

namespace aqueduct::conformance {

void Recorder::packet(Rank from, core::Bytes packet) noexcept {
  misaligned += reinterpret_cast<std::uintptr_t>(packet.data()) % 8 != 0;
  late += std::ranges::find(losses, from) != losses.end();
  packets.push_back({from, {packet.begin(), packet.end()}});
}

void Recorder::completed(core::Token token, Status status) noexcept {
  ++completions[token];
  if (!status) failures.push_back(status);
}

ConduitBench::ConduitBench(const Fabric& fabric, Rank ranks, const Config& config)
    : config_(config), log_(config_, kNoRank), inboxes_(ranks) {
  process_ = {&config_, &log_, /*job=*/1, ranks, std::vector<Rank>(ranks), std::vector<std::uint32_t>(ranks)};
  std::iota(process_.mine.begin(), process_.mine.end(), Rank{0});
  auto network = make_network(fabric, process_);
  status_ = network.status();
  if (!network) return;
  network_ = std::move(*network);
  std::vector<std::vector<std::byte>> addresses;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto conduit = network_->open(rank);
    status_ = conduit.status();
    if (!conduit) return;
    addresses.push_back((*conduit)->address());
    conduits_.push_back(std::move(*conduit));
  }
  for (const auto& conduit : conduits_) {
    if (status_) status_ = conduit->connect(addresses);
  }
}

ConduitBench::~ConduitBench() {
  const auto is_settled = [](const auto& conduit) { return conduit == nullptr || conduit->settled(); };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!std::ranges::all_of(conduits_, is_settled) && std::chrono::steady_clock::now() < end) poll();
}

void ConduitBench::poll() {
  for (Rank rank = 0; rank < ranks(); ++rank) {
    if (conduits_[rank] != nullptr) conduits_[rank]->poll(inboxes_[rank]);
  }
}

}  // namespace aqueduct::conformance
