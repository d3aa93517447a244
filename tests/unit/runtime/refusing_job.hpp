#pragma once

// A job over loop whose conduits refuse posts, as those whose library finds no memory.

#include <aqueduct/aqueduct.hpp>

#include "conduits/registry.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"
#include "core/network.hpp"
#include "runtime/builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::refusing {

inline constexpr Rank kMostRanks = 3;
/// [rank] what posts to it are answered if that is a retry.
using Refusals = std::array<core::Post, kMostRanks>;

/// Loop's conduit, but for posts that are refused: of these all, or messages only.
class RefusingConduit final : public core::Conduit, core::NativeRma {
 public:
  RefusingConduit(std::unique_ptr<core::Conduit> inner, const Refusals& refusals, const bool& only_messages)
      : inner_(std::move(inner)), refusals_(refusals), only_messages_(only_messages) {}

  const core::Properties& properties() const noexcept override { return inner_->properties(); }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override {
    return refuses(to) ? refusals_[to] : inner_->send(to, header, payload, token);
  }
  int poll(core::Inbox& inbox) noexcept override { return inner_->poll(inbox); }
  core::NativeRma* rma() noexcept override { return inner_->rma() != nullptr ? this : nullptr; }

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override {
    return inner_->rma()->register_segment(id, memory);
  }
  void unregister_segment(SegmentId id) noexcept override { inner_->rma()->unregister_segment(id); }
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override {
    return inner_->rma()->import_key(peer, key);
  }
  core::Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
                 core::Token token) noexcept override {
    return refuses_rma(peer) ? refusals_[peer] : inner_->rma()->put(peer, key, offset, from, inject, token);
  }
  core::Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                 core::Token token) noexcept override {
    return refuses_rma(peer) ? refusals_[peer] : inner_->rma()->get(peer, key, offset, to, token);
  }

 private:
  bool refuses(Rank to) const noexcept { return refusals_[to].kind == core::Post::Kind::retry; }
  bool refuses_rma(Rank to) const noexcept { return !only_messages_ && refuses(to); }

  std::unique_ptr<core::Conduit> inner_;
  const Refusals& refusals_;
  const bool& only_messages_;
};

struct RefusingNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(
        std::make_unique<RefusingConduit>(*std::move(conduit), refusals[me], only_messages));
  }
  std::unique_ptr<core::Network> inner;
  static constexpr Refusals kNone{core::Post::done(), core::Post::done(), core::Post::done()};
  std::array<Refusals, kMostRanks> refusals{kNone, kNone, kNone};  // [rank]
  bool only_messages = false;
};

/// Its ranks are in this process.
struct RefusingJob {
  /// `loop_native`: as AQUEDUCT_LOOP_NATIVE. Without, the reference layer's queue waits for room.
  void begin(Rank ranks, const char* loop_native) {
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"segment_bytes", "256K"},
                                      {"loop_native", loop_native}})
      ASSERT_TRUE(config.set(name, value));
    log.emplace(config, kNoRank);
    process = {&config, &*log, /*job=*/1, ranks, {}, std::vector<std::uint32_t>(ranks)};
    for (Rank rank = 0; rank < ranks; ++rank) process.mine.push_back(rank);
    auto loop = conduits::find("loop")->entry->make(process);
    ASSERT_TRUE(loop);
    network.inner = *std::move(loop);
    auto made = runtime::build_in_process(ranks, config, network);
    ASSERT_TRUE(made);
    job.emplace(*std::move(made));
  }
  Endpoint& endpoint(Rank rank) { return job->endpoint(rank); }
  /// [rank] the same handler on every rank.
  template <class Call>
  std::vector<ShortRequest<std::uint64_t>> handlers(const Call& call) {
    std::vector<ShortRequest<std::uint64_t>> out;
    for (Rank rank = 0; rank < process.ranks; ++rank) {
      auto made = on_short_request<std::uint64_t>(endpoint(rank), call);
      EXPECT_TRUE(made);
      if (made) out.push_back(*made);
    }
    return out;
  }

  Config config;
  std::optional<core::Log> log;
  core::Process process;
  RefusingNetwork network;
  std::optional<Job> job;
};

}  // namespace aqueduct::refusing
