#include "rma/long.hpp"

#include "rma/transfers.hpp"

namespace aqueduct::rma {
namespace {

// A long request: the payload to its place, then the message. In one packet where it fits; by plain instructions
// where the place is mapped; else as a put, and the message behind it where the network keeps that order, or once it is
// complete.
Status send_long(void* layer, Rank to, HandlerId handler, const am::Args& args, core::Bytes payload,
                 GlobalPtr<std::byte> place, const AmOptions& options) noexcept {
  auto& state = *static_cast<EndpointState*>(layer);
  am::Messages& messages = *state.messages;
  const Access access = state.transfers->access(place, payload.size());
  if (!access.status) return access.status;
  const am::LongTarget target{place.offset(), payload.size(), place.segment(), 0};
  if (access.mapped != nullptr && !payload.empty()) {
    // Credit first: a refused message leaves no bytes behind, and once they are there it is no longer refused.
    if (options.immediate && messages.credits_left(to) == 0) return {ErrorCode::refused, to};
    if (access.mapped != payload.data())
      aqueduct::detail::copy_bytes(access.mapped, payload.data(), payload.size());
    return messages.request(to, AmCategory::long_request, handler, args, &target, {}, {});
  }
  if (payload.size() <= messages.room(to, true, am::kMaxArgs)) {
    return messages.request(to, AmCategory::long_request, handler, args, &target, payload, options);
  }
  if (options.immediate && messages.credits_left(to) == 0) return {ErrorCode::refused, to};
  const PutOptions put{SourceReuse::at_completion, nullptr, options.immediate};
  const core::Properties& network = state.conduit(to).properties();
  const bool ordered = access.part->reach == Part::Reach::native && network.put_before_send &&
                       payload.size() <= network.max_ordered;
  auto begun = state.transfers->put(place, payload.data(), payload.size(),
                                    ordered ? Transfers::Form::event : Transfers::Form::blocking, put);
  if (!begun.status) return begun.status;
  // The bytes have arrived or are on their way, so the message must follow, whatever it waits for.
  const Status sent = messages.request(to, AmCategory::long_request, handler, args, &target, {}, {});
  const Status there = state.face.wait(begun.event);  // until then the payload is read
  return sent ? there : sent;
}

}  // namespace

void add_long_requests(EndpointState& state) noexcept { state.messages->set_long_sender(send_long, &state); }

}  // namespace aqueduct::rma
