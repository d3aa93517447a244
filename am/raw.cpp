#include <aqueduct/am_raw.hpp>

#include "am/messages.hpp"
#include "am/packet_parts.hpp"
#include "core/entry.hpp"
#include "core/wait.hpp"

#include <cstring>
#include <new>
#include <string>
#include <utility>

// Raw messages: those whose header has a raw word. They are sent as all others are; only the target knows its table.

namespace aqueduct {
namespace {

constexpr std::size_t kMostRawWords = am::kMaxArgs / sizeof(std::uint32_t);
constexpr unsigned kAllCategories = 0x3f;

detail::Args pack_raw(std::uint32_t space, const RawCall& call) noexcept {
  return {call.words.data(), static_cast<std::uint16_t>(call.words.size_bytes()), 0,
          am::raw_word(space, call.number, call.tag)};
}

[[gnu::cold]] Status refuse_words(detail::EndpointState& state, const char* what, Rank to,
                                  const RawCall& call) noexcept {
  return state.messages->refuse_words(what, to, call.words.size());
}

Status reply_raw(detail::Incoming& incoming, std::uint32_t space, AmCategory category, const RawCall& call,
                 detail::Bytes payload, GlobalPtr<std::byte> to) noexcept {
  if (call.words.size() > kMostRawWords) [[unlikely]]
    return refuse_words(incoming.state, "a raw reply", incoming.source, call);
  return detail::send_reply(incoming, category, static_cast<HandlerId>(space), pack_raw(space, call), payload,
                            to);
}

}  // namespace

Result<HandlerSpace> HandlerSpace::create(Endpoint& ep, std::string_view name) noexcept try {
  auto& state = ep.state();
  const core::Entry entry(state);
  if (state.in_child() || name.empty()) return ErrorCode::invalid_argument;
  if (state.in_handler) return ErrorCode::in_handler;
  am::RawSpaces& spaces = state.messages->raw_spaces();
  const std::uint32_t number = am::RawSpaces::number_of(name);
  if (const detail::RawSpace* other = spaces.find(number)) {
    if (other->name != name)
      state.log.error(
          "the handler spaces \"{}\" and \"{}\" have the same hash: rename one of them on all ranks",
          other->name, name);
    else
      state.log.error("this endpoint has a handler space \"{}\" already: give the second one another name",
                      name);
    return ErrorCode::invalid_argument;
  }
  if (spaces.count() == am::RawSpaces::kMost) {
    state.log.error(
        "the handler space \"{}\" would be one more than the {} that an endpoint has: put its handlers "
        "into another one",
        name, am::RawSpaces::kMost);
    return ErrorCode::refused;
  }
  return HandlerSpace(ep, spaces.add(name, number));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status HandlerSpace::add(std::uint8_t number, RawHandler handler, void* argument, const RawAccepts& accepts,
                         const HandlerOptions& options) noexcept {
  if (handler == nullptr) return ErrorCode::invalid_argument;
  return add_held(number, handler, argument, nullptr, accepts, options);
}

Status HandlerSpace::add_held(std::uint8_t number, RawHandler handler, void* argument, void (*destroy)(void*),
                              const RawAccepts& accepts, const HandlerOptions& options) noexcept try {
  std::shared_ptr<void> held;
  if (destroy != nullptr) held = {argument, destroy};  // destroys it even if this throws
  auto& state = ep_->state();
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.in_handler) return ErrorCode::in_handler;
  detail::RawSpace::Entry& place = space_->entries[number];
  const bool accepts_any =
      (accepts.categories & kAllCategories) != 0 && accepts.least_words <= accepts.most_words;
  if (place.run != nullptr || !accepts_any) return ErrorCode::invalid_argument;
  std::unique_ptr<std::uint32_t> unfinished;
  if (options.parallel && state.guard.shared()) unfinished = state.messages->parallel().count_for_raw();
  place = {handler, argument, std::move(held), accepts, std::move(unfinished)};
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Status HandlerSpace::remove(std::uint8_t number) noexcept {
  auto& state = ep_->state();
  const core::Entry entry(state);
  if (state.in_handler) return ErrorCode::in_handler;
  detail::RawSpace::Entry& place = space_->entries[number];
  if (place.run == nullptr) return ErrorCode::invalid_argument;
  if (place.unfinished == nullptr || *place.unfinished == 0 || state.in_child()) {
    place = {};
    return {};
  }
  // Messages that have arrived are still handled. The caller may free what the handler uses, so it waits for them.
  if (state.must_not_wait()) return ErrorCode::in_handler;
  const detail::RawSpace::Entry removed = std::exchange(place, {});
  return core::wait_until(
      state, [&] { return *removed.unfinished == 0; }, kNoRank,
      [] { return std::string("parallel handlers of a number that is being removed"); });
}

bool HandlerSpace::has(std::uint8_t number) const noexcept {
  const core::Entry entry(ep_->state());
  return space_->entries[number].run != nullptr;
}

Status HandlerSpace::send(Rank to, AmCategory category, const RawCall& call, detail::Bytes payload,
                          GlobalPtr<std::byte> place, const AmOptions& options) const noexcept {
  const core::Entry entry(ep_->state());
  if (call.words.size() > kMostRawWords) [[unlikely]]
    return refuse_words(ep_->state(), "a raw request", to, call);
  return detail::send_request(*ep_, to, category, static_cast<HandlerId>(space_->number),
                              pack_raw(space_->number, call), payload, place, options);
}

Status HandlerSpace::request_short(Rank to, const RawCall& call, const AmOptions& options) const noexcept {
  return send(to, AmCategory::short_request, call, {}, {}, options);
}

Status HandlerSpace::request_medium(Rank to, const RawCall& call, std::span<const std::byte> payload,
                                    const AmOptions& options) const noexcept {
  return send(to, AmCategory::medium_request, call, payload, {}, options);
}

Status HandlerSpace::request_long(const RawCall& call, std::span<const std::byte> payload,
                                  GlobalPtr<std::byte> to, const AmOptions& options) const noexcept {
  return send(to.rank(), AmCategory::long_request, call, payload, to, options);
}

Status RawContext::reply_short(const RawCall& call) noexcept {
  return reply_raw(*incoming_, space_, AmCategory::short_reply, call, {}, {});
}

Status RawContext::reply_medium(const RawCall& call, std::span<const std::byte> payload) noexcept {
  return reply_raw(*incoming_, space_, AmCategory::medium_reply, call, payload, {});
}

Status RawContext::reply_long(const RawCall& call, std::span<const std::byte> payload,
                              GlobalPtr<std::byte> to) noexcept {
  return reply_raw(*incoming_, space_, AmCategory::long_reply, call, payload, to);
}

Status PreparedPayload::commit_raw(const HandlerSpace& space, const RawCall& call, std::size_t used,
                                   const AmOptions& options) noexcept {
  if (call.words.size() > kMostRawWords) [[unlikely]]
    return refuse_words(ep_->state(), "a prepared raw request", kNoRank, call);
  if (space.ep_ != ep_) return ErrorCode::invalid_argument;
  const std::uint32_t number = space.space_->number;
  return send(false, category(), static_cast<HandlerId>(number), pack_raw(number, call), used, options);
}

Status PreparedReply::commit_raw(const RawCall& call, std::size_t used) noexcept {
  if (call.words.size() > kMostRawWords) [[unlikely]]
    return refuse_words(ep_->state(), "a prepared raw reply", kNoRank, call);
  if (space_ == 0) return ErrorCode::wrong_handler;
  return send(false, static_cast<HandlerId>(space_), pack_raw(space_, call), used);
}

namespace am {

template <class Packet>
const char* Messages::run_raw(Incoming& incoming, const Packet& packet) noexcept {
  PacketHeader header;
  std::memcpy(&header, packet.start().data(), sizeof header);
  const AmCategory category = header.category;
  if (category > AmCategory::long_reply || is_request(category) != incoming.is_request)
    return "its category is wrong";
  if (header.args_bytes > kMaxArgs || header.args_bytes % sizeof(std::uint32_t) != 0)
    return "its number of words is wrong";
  if (header.payload_bytes != 0 && !is_medium(category) && !is_long(category))
    return "it is short and has a payload";
  RawSpace* const space = raw_spaces_.find(raw_space(header));
  if (space == nullptr) return "this rank has no such handler space";
  const std::uint8_t number = raw_number(header);
  const RawSpace::Entry& entry = space->entries[number];
  if (entry.run == nullptr) return "this rank has no handler under that number";
  const std::size_t count = header.args_bytes / sizeof(std::uint32_t);
  if ((entry.accepts.categories & RawAccepts::bit(category)) == 0 || count < entry.accepts.least_words ||
      count > entry.accepts.most_words)
    return "the handler under that number does not take this category or number of words";
  PacketParts parts;
  if (const char* why = find_parts(state_, header, packet, parts)) return why;
  std::uint32_t words[kMostRawWords];  // in a packet they may be unaligned
  std::memcpy(words, parts.args, header.args_bytes);
  ++state_.statistics.handlers_run;
  incoming.is_raw = true;
  RawContext context(incoming, space->number, category, {number, raw_tag(header), {words, count}},
                     parts.payload);
  if (entry.unfinished != nullptr && parallel_.queue_raw(incoming, space->number, entry, context))
      [[unlikely]]
    return nullptr;
  state_.in_handler = true;
  entry.run(entry.argument, context);
  state_.in_handler = false;
  return nullptr;
}
template const char* Messages::run_raw(Incoming& incoming, const InOnePiece& packet) noexcept;
template const char* Messages::run_raw(Incoming& incoming, const InTwoPieces& packet) noexcept;

}  // namespace am

}  // namespace aqueduct
