#include "gups/updates.hpp"

#include "common/check.hpp"
#include "common/progress_until.hpp"
#include "gups/stream.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace gups {

using example::need;

void update_by_atomics(aqueduct::Endpoint& ep, const Table& table, Share share, std::uint64_t window) {
  std::uint64_t number = number_at(share.first);
  for (std::uint64_t i = 0; i < share.count; ++i, number = next(number)) {
    const auto word = table.at(table.index_of(number));
    need(aqueduct::atomic_nbi<aqueduct::AtomicOp::bit_xor>(ep, word, number), "begin an atomic");
    if (i % window == window - 1) need(ep.wait_implicit(), "complete a window of atomics");
  }
  need(ep.wait_implicit(), "complete the last atomics");
}

void update_by_gets(aqueduct::Endpoint& ep, const Table& table, Share share) {
  std::uint64_t number = number_at(share.first);
  for (std::uint64_t i = 0; i < share.count; ++i, number = next(number)) {
    const auto word = table.at(table.index_of(number));
    const std::uint64_t before = need(aqueduct::get_value(ep, word), "get a word");
    need(aqueduct::put_value(ep, word, before ^ number), "put a word");
  }
}

namespace {

constexpr std::size_t kBatch = 64;  // chosen: 512 bytes, many times a packet's overhead

}  // namespace

MessageUpdates::MessageUpdates(aqueduct::Endpoint& ep, const Table& table)
    : ep_(ep), table_(table), batches_(ep.ranks()), sent_(ep.ranks()) {
  auto apply = [this](aqueduct::RequestContext&, const aqueduct::NoArguments&, std::span<std::byte> payload) {
    // No atomics are needed: all handlers of an endpoint run on its own thread, one after the other.
    for (std::size_t at = 0; at < payload.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t number = 0;
      std::memcpy(&number, &payload[at], sizeof(number));
      table_.mine(table_.index_of(number)) ^= number;
      ++received_;
    }
  };
  auto note = [this](aqueduct::RequestContext&, const Announcement& announcement) {
    announced_ += announcement.numbers;
    ++finished_;
  };
  numbers_ = need(aqueduct::on_medium_request<aqueduct::NoArguments>(ep, apply), "register a handler");
  all_sent_ = need(aqueduct::on_short_request<Announcement>(ep, note), "register a handler");
}

void MessageUpdates::flush(aqueduct::Rank to) {
  auto& batch = batches_[to];
  if (batch.empty()) return;
  need(aqueduct::request(ep_, to, numbers_, {}, std::as_bytes(std::span(batch))), "send numbers");
  sent_[to] += batch.size();
  batch.clear();  // a request's payload may be reused when the call returns
}

void MessageUpdates::update(Share share) {
  std::uint64_t number = number_at(share.first);
  std::fill(sent_.begin(), sent_.end(), 0);
  for (std::uint64_t i = 0; i < share.count; ++i, number = next(number)) {
    const aqueduct::Rank owner = table_.owner_of(table_.index_of(number));
    batches_[owner].push_back(number);
    if (batches_[owner].size() == kBatch) flush(owner);
  }
  // Messages may arrive in any order, so each rank announces how many numbers it
  // has sent, instead of marking the last one.
  for (aqueduct::Rank to = 0; to < ep_.ranks(); ++to) {
    flush(to);
    need(aqueduct::request(ep_, to, all_sent_, {sent_[to]}), "announce how many were sent");
  }
  example::progress_until(
      ep_, [this] { return finished_ == ep_.ranks() && received_ == announced_; }, "the others' updates");
  finished_ = 0;
}

}  // namespace gups
