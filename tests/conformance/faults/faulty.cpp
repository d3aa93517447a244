#include "tests/conformance/faults/faulty.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace aqueduct::conformance {

using core::Bytes;
using core::Post;
using core::Token;

FaultyNetwork::FaultyNetwork(std::unique_ptr<core::Network> inner, Rank ranks, const FaultPlan& plan)
    : inner_(std::move(inner)),
      ranks_(ranks),
      plan_(plan),
      dead_(std::make_unique<std::atomic<bool>[]>(ranks)) {}

Result<std::unique_ptr<core::Conduit>> FaultyNetwork::open(Rank me) {
  auto conduit = inner_->open(me);
  if (!conduit) return conduit;
  return std::unique_ptr<core::Conduit>(
      std::make_unique<FaultyConduit>(*this, *std::move(conduit), me, plan_));
}

/// The inbox of the inner conduit: delays packets, and translates tokens, before it calls the user's inbox.
class FaultyConduit::Receiver final : public core::Inbox {
 public:
  Receiver(FaultyConduit& conduit, core::Inbox& user) : conduit_(conduit), user_(user) {}

  void packet(Rank from, Bytes bytes) noexcept override {
    if (conduit_.told_[from]) return;
    core::Dice& dice = conduit_.dice_;
    const FaultPlan& plan = conduit_.plan_;
    std::uint64_t due = conduit_.polls_;
    if (dice.chance(plan.repair)) {
      due += static_cast<std::uint64_t>(plan.repair_polls);
    } else if (dice.chance(plan.delay)) {
      due += 1 + dice.below(static_cast<std::size_t>(plan.delay_polls));
    } else if (!dice.chance(plan.reorder)) {
      ++calls_;
      return user_.packet(from, bytes);
    }
    conduit_.held_.push_back({due, from, {bytes.begin(), bytes.end()}});
  }

  void completed(Token token, Status status) noexcept override {
    const Record& record = conduit_.records_[token];
    const bool tell = record.tell;
    const Token users = record.token;
    conduit_.finish(token);
    if (!tell) return;
    ++calls_;
    user_.completed(users, status);
  }

  void signalled(Rank from, Signal signal) noexcept override {
    if (conduit_.told_[from]) return;
    ++calls_;
    user_.signalled(from, signal);
  }

  void lost(Rank peer) noexcept override {
    if (conduit_.told_[peer]) return;
    calls_ += conduit_.deliver_held(user_, peer);  // packets that it sent before it left
    conduit_.told_[peer] = true;
    ++calls_;
    user_.lost(peer);
  }

  int calls() const noexcept { return calls_; }

 private:
  FaultyConduit& conduit_;
  core::Inbox& user_;
  int calls_ = 0;
};

FaultyConduit::FaultyConduit(const FaultyNetwork& network, std::unique_ptr<core::Conduit> inner, Rank me,
                             const FaultPlan& plan)
    : network_(network),
      inner_(std::move(inner)),
      me_(me),
      plan_(plan),
      dice_(plan.seed, me),
      properties_(altered()),
      native_(*this, *inner_),
      told_(network.ranks(), false) {}

core::Properties FaultyConduit::altered() const {
  core::Properties properties = inner_->properties();
  properties.max_packet += plan_.overstate;
  properties.concurrent_posts = plan_.guard;
  if (plan_.no_whole_words) properties.whole_words = core::WholeWords::none;
  if (plan_.post > 0) {  // what is sent late may be overtaken
    properties.copies = properties.put_before_send = false;
    properties.put_before_put = properties.send_before_send = false;
  }
  return properties;
}

Status FaultyConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  Status status = inner_->connect(addresses);
  properties_ = altered();
  return status;
}

Post FaultyConduit::send(Rank to, Bytes header, Bytes payload, Token token) noexcept {
  const auto held = guard();
  if (to < network_.ranks() && network_.is_dead(me_) && to != me_) return Post::done();  // vanishes
  if (to != me_ && refusals_ < plan_.refusals_in_a_row && dice_.chance(plan_.lack)) {
    ++refusals_;
    return Post::failed(ErrorCode::no_memory);
  }
  if (dice_.chance(plan_.misdeliver)) to = (to + 1) % network_.ranks();
  return start({.peer = to, .token = token, .header = header, .payload = payload},
               [this, to](Token own, Bytes head, Bytes body) { return inner_->send(to, head, body, own); });
}

Post FaultyConduit::start(const Operation& operation, Attempt attempt) {
  const auto held = guard();
  if (operation.peer < network_.ranks() && is_cut(operation.peer)) return Post::failed(ErrorCode::peer_lost);
  if (refusals_ < plan_.refusals_in_a_row && dice_.chance(plan_.refuse)) {
    ++refusals_;
    return Post::retry();
  }
  refusals_ = 0;
  if (dice_.chance(plan_.lose)) return Post::done();
  if (dice_.chance(plan_.complete_early)) {
    add_late(operation, /*tell=*/false, operation.take, std::move(attempt));
    return Post::done();
  }
  if (dice_.chance(plan_.post)) {
    add_late(operation, /*tell=*/true, operation.take, std::move(attempt));
    return Post::posted();
  }
  if (operation.repeats && dice_.chance(plan_.duplicate)) {
    add_late(operation, /*tell=*/false, /*copy=*/true, attempt);
  }

  const bool silent = dice_.chance(plan_.no_completion);
  const std::size_t index = add_record(operation, !silent, std::move(attempt));
  Record& record = records_[index];
  Bytes header = operation.header;
  Bytes payload = operation.payload;
  if (header.size() + payload.size() > 0 && dice_.chance(plan_.corrupt)) {
    record.header.assign(header.begin(), header.end());
    record.copy.assign(payload.begin(), payload.end());
    std::vector<std::byte>& bytes = record.copy.empty() ? record.header : record.copy;
    bytes[dice_.below(bytes.size())] ^= std::byte{0x10};
    header = record.header;
    payload = record.copy;
  }
  const Post post = record.attempt(index, header, payload);
  if (post.kind != Post::Kind::posted) finish(index);
  return silent && post.kind == Post::Kind::done ? Post::posted() : post;
}

std::size_t FaultyConduit::add_record(const Operation& operation, bool tell, Attempt attempt) {
  if (free_.empty()) {
    free_.push_back(records_.size());
    records_.emplace_back();
  }
  const std::size_t index = free_.back();
  free_.pop_back();
  records_[index] = {};
  records_[index].peer = operation.peer;
  records_[index].token = operation.token;
  records_[index].tell = tell;
  records_[index].attempt = std::move(attempt);
  return index;
}

void FaultyConduit::add_late(const Operation& operation, bool tell, bool copy, Attempt attempt) {
  Record& record = records_[add_record(operation, tell, std::move(attempt))];
  record.header.assign(operation.header.begin(), operation.header.end());
  if (copy) record.copy.assign(operation.payload.begin(), operation.payload.end());
  record.payload = copy ? Bytes(record.copy) : operation.payload;
  record.waiting = true;
  record.due = polls_ + 1 + dice_.below(static_cast<std::size_t>(plan_.post_polls));
}

void FaultyConduit::finish(std::size_t index) noexcept {
  records_[index].waiting = false;
  free_.push_back(index);
}

bool FaultyConduit::attempt_late(core::Inbox& inbox, std::size_t index) noexcept {
  Record& record = records_[index];
  if (!record.waiting || record.due > polls_) return false;
  const bool cut = record.peer < network_.ranks() && is_cut(record.peer);
  const Post post =
      cut ? Post::failed(ErrorCode::peer_lost) : record.attempt(index, record.header, record.payload);
  if (post.kind == Post::Kind::retry) return false;
  record.waiting = false;
  if (post.kind == Post::Kind::posted) return false;  // the inner conduit will complete it
  const bool tell = record.tell;
  const Token users = record.token;
  const Status status = post.why == ErrorCode::ok ? Status{} : Status{post.why, record.peer};
  finish(index);
  if (tell) inbox.completed(users, status);
  return tell;
}

int FaultyConduit::poll(core::Inbox& inbox) noexcept {
  const auto held = guard();
  ++polls_;
  int calls = 0;
  for (std::size_t i = 0, count = records_.size(); i < count; ++i) calls += attempt_late(inbox, i) ? 1 : 0;
  Receiver receiver(*this, inbox);
  inner_->poll(receiver);
  calls += receiver.calls();
  calls += deliver_held(inbox);
  return calls + report_deaths(inbox);
}

int FaultyConduit::deliver_held(core::Inbox& inbox, Rank only_from) noexcept {
  const auto is_due = [&](const Held& held) {
    return only_from == kAnyRank ? held.due <= polls_ : held.from == only_from;
  };
  const auto first_due = std::stable_partition(held_.begin(), held_.end(), std::not_fn(is_due));
  for (auto held = first_due; held != held_.end(); ++held) inbox.packet(held->from, held->packet);
  const auto calls = static_cast<int>(held_.end() - first_due);
  held_.erase(first_due, held_.end());
  return calls;
}

int FaultyConduit::report_deaths(core::Inbox& inbox) noexcept {
  int calls = 0;
  for (Rank peer = 0; peer < network_.ranks(); ++peer) {
    if (told_[peer] || !is_cut(peer)) continue;
    std::erase_if(held_, [peer](const Held& held) { return held.from == peer; });
    told_[peer] = true;
    inbox.lost(peer);
    ++calls;
  }
  return calls;
}

void FaultyConduit::check_peers(core::Inbox& inbox) noexcept {
  const auto held = guard();
  Receiver receiver(*this, inbox);
  inner_->check_peers(receiver);
}

core::NativeRma* FaultyConduit::rma() noexcept {
  return plan_.keep_rma && inner_->rma() != nullptr ? &native_ : nullptr;
}
core::NativeSignal* FaultyConduit::signal() noexcept {
  return plan_.keep_signal && inner_->signal() != nullptr ? &native_ : nullptr;
}
core::NativeVector* FaultyConduit::vector() noexcept {
  return inner_->vector() != nullptr ? &native_ : nullptr;
}
core::NativeAtomics* FaultyConduit::atomics() noexcept {
  return plan_.keep_atomics && inner_->atomics() != nullptr ? &native_ : nullptr;
}
core::NativeUpdates* FaultyConduit::updates() noexcept {
  return plan_.keep_atomics && inner_->updates() != nullptr ? &native_ : nullptr;
}
core::CrossMap* FaultyConduit::cross_map() noexcept {
  return plan_.keep_cross_map ? inner_->cross_map() : nullptr;
}

}  // namespace aqueduct::conformance
