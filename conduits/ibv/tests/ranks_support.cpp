#include "conduits/ibv/tests/ranks.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace aqueduct::conduits::ibv {
namespace {

constexpr std::uint64_t kJob = 4711;
constexpr std::chrono::seconds kLong{10};

}  // namespace

std::vector<std::byte> bytes_of(std::size_t count, unsigned seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed * 31 + (i >> 8));
  return bytes;
}

Ranks::Ranks(const IbvOptions& options, Rank count, const std::function<void(mock::Network&)>& prepare,
             const std::vector<std::size_t>& ports)
    : log_(core::LogLevel::info,
           [this](core::LogLevel, std::string_view line) { lines_.emplace_back(line); }),
      memory_(count, std::vector<std::byte>(kSegment)),
      exported_(count),
      keys_(count),
      heard_(count) {
  prepare(network_);
  verbs_ = network_.verbs();
  Found found = find_port(verbs_, {.rails = kMostRails});
  EXPECT_EQ(found.problem, "");
  port_ = std::move(found.port);
  rails_ = std::move(found.rails);
  std::vector<std::vector<std::byte>> addresses;
  for (Rank rank = 0; rank < count; ++rank) {
    auto objects = open_objects(verbs_, port_, options, count, rank, log_);
    EXPECT_TRUE(objects) << said();
    ends_.push_back(std::make_unique<IbvConduit>(verbs_, port_, std::move(*objects), options, kJob, count,
                                                 rank, log_, core::EndpointClock(tell, this)));
    const std::size_t more = rank < ports.size() ? ports[rank] - 1 : 0;
    EXPECT_TRUE(ends_[rank]->start(std::span(rails_).first(more))) << said();
    addresses.push_back(ends_[rank]->address());
  }
  for (Rank rank = 0; rank < count; ++rank) {
    EXPECT_TRUE(ends_[rank]->connect(addresses));
    auto key = ends_[rank]->rma()->register_segment(0, memory_[rank]);
    EXPECT_TRUE(key);
    exported_[rank] = *key;
    const auto handle = ends_[0]->rma()->import_key(rank, *key);
    EXPECT_TRUE(handle);
    keys_[rank] = *handle;
  }
}

std::string Ranks::said() const {
  std::string all;
  for (const std::string& line : lines_) all += line + "\n";
  return all;
}

void Ranks::poll() {
  for (std::size_t rank = 0; rank < ends_.size(); ++rank) {
    if (ends_[rank] != nullptr) ends_[rank]->poll(heard_[rank]);
  }
}

bool Ranks::until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll();
  }
  return true;
}

core::Post Ranks::insist(const std::function<core::Post()>& attempt) {
  core::Post post = core::Post::retry();
  static_cast<void>(until([&] { return (post = attempt()).kind != core::Post::Kind::retry; }));
  return post;
}

core::Post Ranks::until_answered(const std::function<core::Post()>& attempt) {
  return insist([&] {
    pass(std::chrono::milliseconds(5));
    return attempt();
  });
}

Status Ranks::end_of(core::Token token) {
  const auto& ended = heard_[0].completed_ones;
  return until([&] { return ended.count(token) != 0; }) ? ended.at(token) : Status(ErrorCode::timed_out);
}

void Ranks::meet(Rank with) {
  const auto bytes = bytes_of(8);
  ASSERT_EQ(insist([&] { return ends_[0]->rma()->put(with, key(with), 0, bytes, false, 999); }).kind,
            core::Post::Kind::posted);
  ASSERT_TRUE(end_of(999));
  heard_[0].completed_ones.clear();
  network_.counts = {};
}

}  // namespace aqueduct::conduits::ibv
