#include "rma/long.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "core/wait.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace aqueduct::rma {
namespace {

/// The payload of the operation: the message without the bytes.
struct LongMessage {
  std::uint64_t offset;
  std::uint64_t bytes;
  SegmentId segment;
  std::uint32_t raw;
  HandlerId handler;
  std::uint8_t args_bytes;
  bool sent;  ///< the message has left, or its peer is lost
  std::byte args[am::kMaxArgs];
};

void describe_long(const Op& op, std::string& text) {
  const auto& message = op.payload<LongMessage>();
  text += fmt::format(" of {} bytes (segment {}, offset {})", message.bytes, message.segment, message.offset);
}

constexpr core::OpKind kLongKind{"a long request", 0, describe_long};

}  // namespace

LongRequests::LongRequests(EndpointState& state)
    : state_(state),
      messages_(*state.messages),
      transfers_(*state.transfers),
      queues_(state.ranks),
      busy_(state.busy) {
  waiting_on_.reserve(state.ranks);
  messages_.set_long_sender(send_long, this);
}

// There are three ways. If the place is mapped, the payload is copied there. If it fits into the message's packet, it
// travels there. Otherwise it is a put.
Status LongRequests::send_long(void* layer, Rank to, HandlerId handler, const am::Args& args,
                               core::Bytes payload, GlobalPtr<std::byte> place,
                               const AmOptions& options) noexcept {
  auto& self = *static_cast<LongRequests*>(layer);
  if (const Status status = self.transfers_.wait_for_turn(to, options.immediate); !status) return status;
  // Once it goes on by itself nothing asks again.
  if (const Status status = self.messages_.wait_for_turn(to, options.immediate); !status) return status;
  const Access access = self.transfers_.access(place, payload.size());
  if (!access.status) return access.status;
  const Call call{to, handler, args, payload, place, {place.offset(), payload.size(), place.segment(), 0}};
  if (access.mapped != nullptr && !payload.empty())
    return self.send_copied(call, access.mapped, options.immediate);
  if (payload.size() <= self.messages_.room(to, true, am::kMaxArgs))
    return self.messages_.request(to, AmCategory::long_request, handler, args, &call.target, payload,
                                  options);
  const core::Properties& network = self.state_.conduit(to).properties();
  const bool native = access.part->reach == SegmentPart::Reach::native;
  const bool ordered = native && network.put_before_send && payload.size() <= network.max_ordered;
  const bool several_posts = native && payload.size() > network.max_transfer;
  if (options.immediate) {
    // What would wait is refused before anything has happened: for the payload, and between two posts of a put.
    if (options.source_event == nullptr) return {ErrorCode::invalid_argument, to};
    if (several_posts) return {ErrorCode::too_large, to};
  }
  if (options.source_event == nullptr || several_posts) return self.send_after_put(call, ordered);
  return self.send_later(call, ordered, native, options);
}

// An immediate request is refused before the copy, since a message that is refused must not change memory. After the
// copy it goes its way, so without room it joins the queue.
Status LongRequests::send_copied(const Call& call, std::byte* mapped, bool immediate) noexcept {
  Op* op = nullptr;
  if (immediate) {
    if (messages_.credits_left(call.to) == 0) return {ErrorCode::refused, call.to};
    const auto begun = begin(call, true);
    if (!begun) return begun.status();
    op = *begun;
  }
  if (mapped != call.payload.data())
    aqueduct::detail::write_bytes(mapped, call.payload.data(), call.payload.size());
  if (op == nullptr)
    return messages_.request(call.to, AmCategory::long_request, call.handler, call.args, &call.target, {},
                             {});
  state_.ops.part_ended(*op, {});
  return {};
}

// The call waits for the put. The message follows at once if the network keeps that order, or after the put.
Status LongRequests::send_after_put(const Call& call, bool ordered) noexcept {
  const PutOptions put{SourceReuse::at_completion, nullptr, false};
  auto begun =
      transfers_.put(call.place, call.payload.data(), call.payload.size(),
                     ordered ? Transfers::Completion::event : Transfers::Completion::blocking, put, nullptr,
                     nullptr, {WordPromise::any});  // in the native way, which alone is ordered
  if (!begun.status) return begun.status;
  const Status sent =
      messages_.request(call.to, AmCategory::long_request, call.handler, call.args, &call.target, {}, {});
  const Status there = core::wait_to_the_end(state_, begun.event);  // the put reads the payload until then
  return sent ? there : sent;
}

// The call waits at most for records of operations and for room for the put; an immediate one for nothing. Without a
// record for the source event, which only the program can free, the call waits for the put.
Status LongRequests::send_later(const Call& call, bool ordered, bool native,
                                const AmOptions& options) noexcept {
  Status status;
  bool has_record = true;
  core::MemoryPatience patience;
  const auto begun = [&] {
    has_record = has_room(call.to, true);
    transfers_.forget_refusal();
    if (has_record) status = begin_put(call, ordered, native, options);
    const bool refused = has_record && status.code() == ErrorCode::refused;
    if (refused && !options.immediate &&
        patience.is_over(state_, call.to, transfers_.latest_refusal(), state_.ops.in_flight() != 0))
      status = {ErrorCode::no_memory, call.to};
    return !has_record || status.code() != ErrorCode::refused;
  };
  if (!begun()) {
    if (options.immediate) return {ErrorCode::refused, call.to};
    const Status waited = core::wait_for_room(
        state_, begun, call.to, [&] { return fmt::format("room for a long request to rank {}", call.to); });
    if (!waited) return waited;
  }
  if (has_record) return status;
  return options.immediate ? Status(ErrorCode::refused, call.to) : send_after_put(call, ordered);
}

/// Whether an operation can begin without waiting for a record.
bool LongRequests::has_room(Rank to, bool is_explicit) noexcept {
  Op* const op = state_.ops.acquire(kLongKind, to, is_explicit);
  if (op != nullptr) state_.ops.take_back(*op);
  return op != nullptr;
}

// The put is a member of the request's operation. It must not wait, since the message is not queued behind it yet: a
// native put is immediate, and one in packets has a record and queues its packets.
Status LongRequests::begin_put(const Call& call, bool ordered, bool native,
                               const AmOptions& options) noexcept {
  const auto begun = begin(call, true);
  if (!begun) return begun.status();
  Op& op = **begun;
  Status put = ErrorCode::refused;
  if (has_room(call.to, false)) {
    put = transfers_
              .put(call.place, call.payload.data(), call.payload.size(), Transfers::Completion::group,
                   {SourceReuse::on_event, options.source_event, native || options.immediate}, nullptr,
                   nullptr, {WordPromise::any, &op})
              .status;
  }
  // Where the network keeps the order, the message need not wait for the put.
  if (put && ordered && queues_[call.to].head == nullptr) static_cast<void>(try_message(op));
  state_.ops.part_ended(op, put);
  return put;
}

/// The operation of a request, with the initiator's part.
Result<Op*> LongRequests::begin(const Call& call, bool immediate) noexcept {
  auto completion = Transfers::Completion::blocking;  // nobody has an Event for it
  const auto begun = transfers_.begin(kLongKind, call.to, completion, immediate);
  if (!begun) return begun;
  Op& op = **begun;
  LongMessage& message = op.payload<LongMessage>();
  message.offset = call.target.offset;
  message.bytes = call.target.bytes;
  message.segment = call.target.segment;
  message.raw = call.args.raw;
  message.handler = call.handler;
  message.args_bytes = static_cast<std::uint8_t>(call.args.bytes);
  message.sent = false;
  if (call.args.bytes != 0) std::memcpy(message.args, call.args.data, call.args.bytes);
  op.abandoned = true;  // it is free when it ends
  op.ended = in_place;
  op.layer = this;
  messages_.will_follow(call.to);
  return begun;
}

/// All parts have ended: the payload is in place, or the put has failed.
bool LongRequests::in_place(core::Layer& layer, Op& op) noexcept {
  auto& self = static_cast<LongRequests&>(layer);
  const bool over = op.payload<LongMessage>().sent || !op.outcome;
  if (!over && (self.queues_[op.peer].head != nullptr || !self.try_message(op))) {
    self.queue(op);
    return false;
  }
  self.messages_.has_followed(op.peer);
  return true;
}

/// Sends the message, if there are a credit and room. A peer that is lost gets none.
bool LongRequests::try_message(Op& op) noexcept {
  LongMessage& message = op.payload<LongMessage>();
  const am::LongTarget target{message.offset, message.bytes, message.segment, 0};
  const Post post = messages_.try_request(op.peer, AmCategory::long_request, message.handler,
                                          {message.args, message.args_bytes, 0, message.raw}, &target, {},
                                          core::tokens::kNobody);
  message.sent = post.kind != Post::Kind::retry;
  if (!message.sent) refused_ = post;
  return message.sent;
}

/// After the head of the queue has found no room. The payload is in place, and the caller's Event may be done: nothing could tell
/// that the message is dropped, so the peer is given up.
void LongRequests::look_for_memory(Rank to) noexcept {
  core::MemoryPatience& patience = queues_[to].patience;
  if (messages_.credits_left(to) == 0)  // the peer has not handled what it got
    patience.begin_again();
  else if (patience.is_over(state_, to, refused_, !messages_.has_all_credits(to),
                            core::MemoryPatience::Loss::peer))
    messages_.give_up(to);
}

void LongRequests::queue(Op& op) noexcept {
  Queue& queue = queues_[op.peer];
  op.next = nullptr;
  if (queue.head == nullptr) {
    queue.head = &op;
    waiting_on_.push_back(op.peer);
  } else {
    queue.tail->next = &op;
  }
  queue.tail = &op;
  busy_.set(true);
}

void LongRequests::end(Op& op, Status status) noexcept {
  messages_.has_followed(op.peer);
  state_.ops.part_ended(op, status);
}

void LongRequests::advance() noexcept {
  for (std::size_t i = 0; i < waiting_on_.size();) {
    Queue& queue = queues_[waiting_on_[i]];
    while (queue.head != nullptr && try_message(*queue.head)) {
      Op& op = *queue.head;
      queue.head = op.next;
      queue.patience.begin_again();
      end(op, {});
    }
    if (queue.head != nullptr) {
      look_for_memory(waiting_on_[i]);
      ++i;
      continue;
    }
    waiting_on_[i] = waiting_on_.back();
    waiting_on_.pop_back();
  }
  busy_.set(!waiting_on_.empty());
}

void LongRequests::peer_lost(Rank peer) noexcept {
  Op* op = std::exchange(queues_[peer], {}).head;
  if (op == nullptr) return;
  waiting_on_.erase(std::remove(waiting_on_.begin(), waiting_on_.end(), peer), waiting_on_.end());
  busy_.set(!waiting_on_.empty());
  while (op != nullptr) end(*std::exchange(op, op->next), {ErrorCode::peer_lost, peer});
}

void LongRequests::describe(std::string& text, Rank peer) const {
  if (peer >= state_.ranks) return;
  std::size_t waiting = 0;
  for (const Op* op = queues_[peer].head; op != nullptr; op = op->next) ++waiting;
  if (waiting != 0) text += fmt::format("; {} long requests wait for room to rank {}", waiting, peer);
}

}  // namespace aqueduct::rma
