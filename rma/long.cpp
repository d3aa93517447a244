#include "rma/long.hpp"

#include "core/wait.hpp"
#include "rma/transfers.hpp"

namespace aqueduct::rma {
namespace {

// Sends a long request: first the payload into its place, then the message. There are three ways. If the place is
// mapped, the payload is copied there. If it fits into the message's packet, it travels there. Otherwise it is a put:
// the message follows at once if the network keeps that order (put_before_send), or after the put has completed.
Status send_long(void* layer, Rank to, HandlerId handler, const am::Args& args, core::Bytes payload,
                 GlobalPtr<std::byte> place, const AmOptions& options) noexcept {
  auto& state = *static_cast<EndpointState*>(layer);
  am::Messages& messages = *state.messages;
  if (const Status status = state.transfers->wait_for_turn(to, options.immediate); !status) return status;
  const Access access = state.transfers->access(place, payload.size());
  if (!access.status) return access.status;
  const am::LongTarget target{place.offset(), payload.size(), place.segment(), 0};
  if (access.mapped != nullptr && !payload.empty()) {
    // The credit is checked before the copy: a message that is refused must
    // not change memory, and after the copy it can no longer be refused.
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
  const bool ordered = access.part->reach == SegmentPart::Reach::native && network.put_before_send &&
                       payload.size() <= network.max_ordered;
  auto begun =
      state.transfers->put(place, payload.data(), payload.size(),
                           ordered ? Transfers::Completion::event : Transfers::Completion::blocking, put);
  if (!begun.status) return begun.status;
  // The bytes have arrived or are in flight, so the message must
  // follow. It is sent without `immediate`: it waits for room.
  const Status sent = messages.request(to, AmCategory::long_request, handler, args, &target, {}, {});
  const Status there = core::wait(state, begun.event);  // the put reads the payload until then
  return sent ? there : sent;
}

}  // namespace

void add_long_requests(EndpointState& state) noexcept { state.messages->set_long_sender(send_long, &state); }

}  // namespace aqueduct::rma
