#include "am/parallel.hpp"

#include "am/messages.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

// Handlers that run outside the endpoint's lock: core/handler_queue.hpp says when and on which thread.

namespace aqueduct::am {
namespace {

// Chosen: a payload's first buffer, and the largest one that is kept for later messages.
constexpr std::size_t kLeastBuffer = 256;
constexpr std::size_t kMostKeptBuffer = 64 * 1024;

Incoming incoming_of(const ParallelMessage& message) noexcept {
  return {message.all->state(), message.source, message.is_request};
}

}  // namespace

void ParallelMessages::handlers_run_outside() noexcept {
  state_.guard.let_handlers_out(state_.polling, state_.in_handler);
}

Callback ParallelMessages::queue_for(Callback callback, std::uint16_t args_bytes, bool is_long) {
  auto handler =
      std::make_shared<ParallelHandler>(ParallelHandler{*this, std::move(callback), args_bytes, is_long});
  handlers_run_outside();
  return {queue_typed, std::move(handler)};
}

std::unique_ptr<std::uint32_t> ParallelMessages::count_for_raw() {
  auto count = std::make_unique<std::uint32_t>(0);
  handlers_run_outside();
  return count;
}

void ParallelMessages::queue_typed(void* handler, Incoming& incoming, const std::byte* args,
                                   core::MutableBytes payload) noexcept {
  auto& to = *static_cast<ParallelHandler*>(handler);
  ParallelMessage* const message = to.messages.copy(incoming, args, to.args_bytes, payload, to.is_long);
  // Without memory the handler runs here, under the lock: to drop the message would be worse.
  if (message == nullptr) return to.callback.run(to.callback.callable.get(), incoming, args, payload);
  message->callback = &to.callback;
  message->run = run_typed;
  to.messages.state_.handlers.push(*message);
}

bool ParallelMessages::queue_raw(Incoming& incoming, std::uint32_t space, const RawSpace::Entry& entry,
                                 const RawContext& context) noexcept {
  const auto words = context.words();
  ParallelMessage* const message =
      copy(incoming, words.data(), words.size_bytes(), context.payload(), is_long(context.category()));
  if (message == nullptr) return false;
  message->run_raw = entry.run;
  message->argument = entry.argument;
  message->unfinished = entry.unfinished.get();
  ++*message->unfinished;
  message->space = space;
  message->category = context.category();
  message->number = context.number();
  message->tag = context.tag();
  message->run = run_raw;
  state_.handlers.push(*message);
  return true;
}

void ParallelMessages::run_typed(core::QueuedHandler& queued) noexcept {
  auto& message = static_cast<ParallelMessage&>(queued);
  Incoming incoming = incoming_of(message);
  message.callback->run(message.callback->callable.get(), incoming, message.args.data(), message.payload);
  message.owes = message.is_request && !incoming.replied;
}

void ParallelMessages::run_raw(core::QueuedHandler& queued) noexcept {
  auto& message = static_cast<ParallelMessage&>(queued);
  Incoming incoming = incoming_of(message);
  incoming.is_raw = true;
  std::array<std::uint32_t, kMaxArgs / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), message.args.data(), message.args_bytes);
  RawContext context(
      incoming, message.space, message.category,
      {message.number, message.tag, std::span(words).first(message.args_bytes / sizeof(std::uint32_t))},
      message.payload);
  message.run_raw(message.argument, context);
  message.owes = message.is_request && !incoming.replied;
}

void ParallelMessages::over(core::QueuedHandler& queued) noexcept {
  auto& message = static_cast<ParallelMessage&>(queued);
  ParallelMessages& all = *message.all;
  if (message.owes) all.state_.messages->owe_credit(message.source);
  if (message.unfinished != nullptr) --*message.unfinished;
  all.give_back(message);
}

bool ParallelMessages::any_in(core::Bytes memory) const noexcept {
  const std::less<> before;
  return std::ranges::any_of(all_, [&](const auto& message) {
    const std::byte* const at = message->payload.data();
    return at != nullptr && !before(at, memory.data()) && before(at, memory.data() + memory.size());
  });
}

/// Copies a message out of its packet. Null: there is no memory.
ParallelMessage* ParallelMessages::copy(Incoming& incoming, const void* args, std::size_t args_bytes,
                                        core::MutableBytes payload, bool is_long) noexcept {
  ParallelMessage* const message = take(is_long ? 0 : payload.size());
  if (message == nullptr) {
    state_.log.error(
        "no memory for a message of rank {} of {} bytes: its parallel handler runs under the endpoint's "
        "lock, "
        "where it must not wait",
        incoming.source, payload.size());
    return nullptr;
  }
  message->source = incoming.source;
  message->is_request = incoming.is_request;
  message->args_bytes = static_cast<std::uint16_t>(args_bytes);
  if (args_bytes != 0) std::memcpy(message->args.data(), args, args_bytes);
  message->payload = payload;
  if (!is_long) {
    if (!payload.empty()) std::memcpy(message->buffer.get(), payload.data(), payload.size());
    message->payload = {message->buffer.get(), payload.size()};
  }
  incoming.replied = true;  // for dispatch: the credit stays with the message
  return message;
}

ParallelMessage* ParallelMessages::take(std::size_t payload_bytes) noexcept try {
  if (free_ == nullptr) {
    all_.push_back(std::make_unique<ParallelMessage>());
    all_.back()->all = this;
    all_.back()->over = over;
    free_ = all_.back().get();
  }
  auto& message = static_cast<ParallelMessage&>(*free_);
  if (message.buffer_bytes < payload_bytes) {
    const std::size_t bytes = std::max(kLeastBuffer, std::bit_ceil(payload_bytes));
    message.buffer_bytes = 0;
    message.buffer.reset();
    message.buffer.reset(new std::byte[bytes]);
    message.buffer_bytes = bytes;
  }
  free_ = message.next;
  return &message;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void ParallelMessages::give_back(ParallelMessage& message) noexcept {
  if (message.buffer_bytes > kMostKeptBuffer) {
    message.buffer.reset();
    message.buffer_bytes = 0;
  }
  message.payload = {};
  message.callback = nullptr;
  message.run_raw = nullptr;
  message.unfinished = nullptr;
  message.next = free_;
  free_ = &message;
}

}  // namespace aqueduct::am
