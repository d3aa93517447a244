#include "am/messages.hpp"
#include "core/refuse.hpp"

namespace aqueduct {
namespace {

constexpr std::size_t kMostWords = am::kMaxArgs / sizeof(std::uint32_t);

struct Plain {
  PlainHandler body;
  std::size_t words;
};

detail::Args pack_words(std::span<const std::uint32_t> words) noexcept {
  return {words.data(), static_cast<std::uint16_t>(words.size_bytes()), 0};
}

void run_plain(void* callable, detail::Incoming& incoming, const std::byte* args,
               std::span<std::byte> payload) {
  auto& plain = *static_cast<Plain*>(callable);
  std::uint32_t words[kMostWords];
  std::memcpy(words, args, plain.words * sizeof(std::uint32_t));
  RequestContext context(incoming);
  plain.body(context, {words, plain.words}, payload);
}

}  // namespace

Result<HandlerId> register_plain(Endpoint& ep, AmCategory category, std::size_t args, PlainHandler body,
                                 const HandlerOptions& options) {
  if (args > kMostWords) return ep.state().messages->refuse_words("a plain handler", kNoRank, args);
  if (category > AmCategory::long_reply || !body) {
    auto& state = ep.state();
    if (!core::names_refusal(state)) return ErrorCode::invalid_argument;
    if (!body)
      state.log.error("a plain handler without a body: pass a function that is to run");
    else
      state.log.error(
          "a plain handler of category {}: there are the categories 0 (short_request) to {} (long_reply)",
          static_cast<unsigned>(category), static_cast<unsigned>(AmCategory::long_reply));
    return ErrorCode::invalid_argument;
  }
  return detail::register_callback(ep, category, static_cast<std::uint16_t>(args * sizeof(std::uint32_t)), 0,
                                   {run_plain, detail::keep_callable(Plain{std::move(body), args})}, options);
}

Status request_plain(Endpoint& ep, Rank to, AmCategory category, HandlerId handler,
                     std::span<const std::uint32_t> args, std::span<const std::byte> payload,
                     GlobalPtr<std::byte> where, const AmOptions& options) noexcept {
  if (am::is_long(category)) to = where.rank();
  if (args.size() > kMostWords) [[unlikely]]
    return ep.state().messages->refuse_words("a plain request", to, args.size());
  if (!am::is_request(category)) return ErrorCode::wrong_handler;
  if (category == AmCategory::short_request && !payload.empty()) return ErrorCode::invalid_argument;
  return detail::send_request(ep, to, category, handler, pack_words(args), payload, where, options);
}

Status RequestContext::reply_plain(AmCategory category, HandlerId handler,
                                   std::span<const std::uint32_t> args, detail::Bytes payload,
                                   GlobalPtr<std::byte> to) noexcept {
  if (args.size() > kMostWords) [[unlikely]]
    return incoming_->state.messages->refuse_words("a plain reply", incoming_->source, args.size());
  if (am::is_request(category)) return ErrorCode::wrong_handler;
  if (category == AmCategory::short_reply && !payload.empty()) return ErrorCode::invalid_argument;
  return detail::send_reply(*incoming_, category, handler, pack_words(args), payload, to);
}

}  // namespace aqueduct
