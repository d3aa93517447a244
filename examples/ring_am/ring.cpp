#include "ring_am/ring.hpp"

#include "common/check.hpp"
#include "common/progress_until.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace ring_am {

using example::fail;
using example::need;

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kForToken = 0;
constexpr std::size_t kForReply = 1;

std::vector<std::uint64_t> words_in(std::span<const std::byte> payload) {
  std::vector<std::uint64_t> words(payload.size() / kWord);
  if (!words.empty()) std::memcpy(words.data(), payload.data(), words.size() * kWord);
  return words;
}

}  // namespace

std::uint64_t sum_of(std::span<const std::uint64_t> words) {
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

Ring::Ring(aqueduct::Endpoint& ep, std::size_t most_bytes)
    : ep_(ep),
      next_((ep.rank() + 1) % ep.ranks()),
      previous_((ep.rank() + ep.ranks() - 1) % ep.ranks()),
      most_bytes_(most_bytes / kWord * kWord),
      areas_(need(aqueduct::Segment::create(ep, 2 * most_bytes_), "allocate the areas for payloads")) {
  register_handlers();
  need(ep.barrier(), "barrier");  // all ranks have registered: messages may arrive
}

void Ring::register_handlers() {
  using Context = aqueduct::RequestContext;
  using ReplyContext = aqueduct::ReplyContext;
  using Payload = std::span<std::byte>;
  // Each request is answered by a reply of its own kind, with the payload that it carried.
  auto on_short = [this](Context& context, const Token& token) {
    keep(context.source(), token, {});
    need(context.reply(short_reply_, token), "reply");
  };
  auto on_medium = [this](Context& context, const Token& token, Payload payload) {
    keep(context.source(), token, payload);
    need(context.reply(medium_reply_, token, payload), "reply");
  };
  auto on_long = [this](Context& context, const Token& token, Payload payload) {
    keep(context.source(), token, payload);
    need(context.reply(long_reply_, token, payload, area(context.source(), kForReply)), "reply");
  };
  auto on_ack = [this](ReplyContext&, const Token& token) { acknowledged(token, {}, false); };
  auto on_echo = [this](ReplyContext&, const Token& token, Payload payload) {
    acknowledged(token, payload, true);
  };
  short_ = need(aqueduct::on_short_request<Token>(ep_, on_short), "register a handler");
  medium_ = need(aqueduct::on_medium_request<Token>(ep_, on_medium), "register a handler");
  long_ = need(aqueduct::on_long_request<Token>(ep_, on_long), "register a handler");
  short_reply_ = need(aqueduct::on_short_reply<Token>(ep_, on_ack), "register a handler");
  medium_reply_ = need(aqueduct::on_medium_reply<Token>(ep_, on_echo), "register a handler");
  long_reply_ = need(aqueduct::on_long_reply<Token>(ep_, on_echo), "register a handler");
}

std::size_t Ring::most_words(Carrier carrier) const {
  // Every rank must use the same number, although limits may differ from hop to hop.
  aqueduct::AmLimits limits = aqueduct::am_limits(ep_, next_);
  for (aqueduct::Rank rank = 0; rank < ep_.ranks(); ++rank) {
    const aqueduct::AmLimits other = aqueduct::am_limits(ep_, rank);
    limits.medium = std::min(limits.medium, other.medium);
    limits.long_request = std::min(limits.long_request, other.long_request);
    limits.long_reply = std::min(limits.long_reply, other.long_reply);
  }
  switch (carrier) {
    case Carrier::short_am: return 0;
    case Carrier::medium_am: return std::min(limits.medium, most_bytes_) / kWord;
    case Carrier::long_am: return std::min({limits.long_request, limits.long_reply, most_bytes_}) / kWord;
  }
  return 0;
}

aqueduct::GlobalPtr<std::byte> Ring::area(aqueduct::Rank rank, std::size_t which) const {
  return areas_.at<std::byte>(rank, which * most_bytes_);
}

void Ring::keep(aqueduct::Rank from, const Token& token, std::span<const std::byte> payload) {
  if (from != previous_)
    fail("a token from rank " + std::to_string(from) + ", which is not the previous one");
  token_ = token;
  payload_ = words_in(payload);  // a medium payload is valid only inside its handler
  ++taken_;
}

void Ring::acknowledged(const Token& token, std::span<const std::byte> payload, bool has_payload) {
  const auto echo = words_in(payload);
  if (has_payload && (sum_of(echo) != token.sum || echo.size() != token.words)) {
    fail("hop " + std::to_string(token.hop) + ": the reply's payload is not the one that was sent");
  }
  ++replies_;
}

void Ring::hand_on(Carrier carrier) {
  // Copies, because the token may return and be kept while this rank still waits for the reply.
  Token token = token_;
  auto payload = payload_;
  const std::uint64_t word = word_of(token.hop++);
  if (carrier == Carrier::short_am) {
    token.sum += word;
  } else {
    // No room to double: restart with one word.
    if (2 * payload.size() > most_words(carrier)) payload.clear();
    payload.resize(payload.empty() ? 1 : 2 * payload.size(), word);
    token.sum = sum_of(payload);
  }
  token.words = payload.size();

  const auto bytes = std::as_bytes(std::span(payload));
  aqueduct::Status status;
  switch (carrier) {
    case Carrier::short_am: status = aqueduct::request(ep_, next_, short_, token); break;
    case Carrier::medium_am: status = aqueduct::request(ep_, next_, medium_, token, bytes); break;
    case Carrier::long_am:
      status = aqueduct::request(ep_, long_, token, bytes, area(next_, kForToken));
      break;
  }
  need(status, "send the token");
  ++sent_;
  example::progress_until(
      ep_, [this] { return replies_ == sent_; }, "the reply to a token");
}

void Ring::take(Carrier carrier) {
  ++expected_;
  example::progress_until(
      ep_, [this] { return taken_ >= expected_; }, "the token");
  const std::string hop = "hop " + std::to_string(token_.hop) + ": ";
  if (taken_ != expected_) fail(hop + "a token came twice");
  if (carrier == Carrier::short_am) return;
  if (payload_.size() != token_.words) fail(hop + "the payload has the wrong size");
  if (sum_of(payload_) != token_.sum) fail(hop + "the payload has the wrong sum");
  if (payload_.back() != word_of(token_.hop - 1)) fail(hop + "the payload's last word is not the sender's");
}

}  // namespace ring_am
