#include <aqueduct/signal.hpp>

#include "core/entry.hpp"
#include "core/refuse.hpp"
#include "core/signals.hpp"
#include "core/wait.hpp"
#include "rma/transfers.hpp"

namespace aqueduct {

using Completion = rma::Transfers::Completion;

namespace {

Status refuse_slot(detail::EndpointState& state, Rank rank, SignalSlot slot, Status why) noexcept {
  return core::refuse_place(state, {rank, std::uint64_t{slot} * sizeof(std::uint64_t), core::kSignalSegment},
                            sizeof(std::uint64_t), why);
}
/// Refuses the counters of the engine, and those that do not exist.
Status check_slot(detail::EndpointState& state, Rank to, SignalSlot slot) noexcept {
  const Status status = core::check_user_slot(state, to, slot);
  return status ? status : refuse_slot(state, to, slot, status);
}

/// A signal of the program, which cannot reach the engine's counters.
rma::Transfers::Begun send_signal(Endpoint& ep, Rank to, Signal what, Completion completion) noexcept {
  detail::EndpointState& state = ep.state();
  core::Entry entry(state);
  if (const Status status = check_slot(state, to, what.slot); !status) return {status, Event(status)};
  return state.transfers->signal(to, what, completion);
}

}  // namespace

Status signal(Endpoint& ep, Rank to, Signal what) noexcept {
  return send_signal(ep, to, what, Completion::blocking).status;
}

Event signal_nb(Endpoint& ep, Rank to, Signal what) noexcept {
  return send_signal(ep, to, what, Completion::event).event;
}

namespace detail {
namespace {

/// Writes the bytes if they are mapped here. False: nothing has happened, as with null, which Transfers::put refuses.
bool put_mapped(Endpoint& ep, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                const PutOptions& options) noexcept {
  std::byte* const place = ep.mapped(to.rank(), to.segment(), to.offset(), bytes);
  if (place == nullptr || bytes == 0 || from == nullptr) return false;
  write_bytes(place, from, bytes);
  source_is_free(options);
  return true;
}

rma::Transfers::Begun put_with_slot(Endpoint& ep, GlobalPtr<std::byte> to, const void* from,
                                    std::size_t bytes, Signal what, const PutOptions& options,
                                    Completion completion) noexcept {
  EndpointState& state = ep.state();
  {
    core::Entry entry(state);
    if (const Status status = check_slot(state, to.rank(), what.slot); !status)
      return {status, Event(status)};
  }
  // Beside other threads' calls. An immediate put may be refused for its signal, which is looked at first.
  const bool copied = !options.immediate && put_mapped(ep, to, from, bytes, options);
  core::Entry entry(state);
  if (!copied) return state.transfers->put(to, from, bytes, completion, options, &what);
  if (state.transfers->raise_mapped(to.rank(), what)) return {};
  // The bytes are in place, so the signal cannot be refused.
  return state.transfers->signal(to.rank(), what, completion, false, options.group);
}

}  // namespace

Event put_signal_bytes(Endpoint& ep, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                       Signal what, const PutOptions& options) noexcept {
  return put_with_slot(ep, to, from, bytes, what, options, Completion::event).event;
}

Status put_signal_nbi_bytes(Endpoint& ep, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                            Signal what, const PutOptions& options) noexcept {
  return put_with_slot(ep, to, from, bytes, what, options, Completion::group).status;
}

Event put_signal_bytes(Endpoint& ep, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                       const SignalWord& what, const PutOptions& options) noexcept {
  core::Entry entry(ep.state());
  return ep.state().transfers->put_word(to, from, bytes, Completion::event, options, what).event;
}

Status put_signal_nbi_bytes(Endpoint& ep, GlobalPtr<std::byte> to, const void* from, std::size_t bytes,
                            const SignalWord& what, const PutOptions& options) noexcept {
  core::Entry entry(ep.state());
  return ep.state().transfers->put_word(to, from, bytes, Completion::group, options, what).status;
}

}  // namespace detail

namespace {

std::uint64_t value_of(detail::EndpointState& state, SignalSlot slot) noexcept {
  if (slot >= core::signal_slots(state)) return 0;
  return core::my_counter(state, slot).load(std::memory_order_acquire);
}

}  // namespace

std::uint64_t signal_value(Endpoint& ep, SignalSlot slot) noexcept {
  core::Entry entry(ep.state());
  auto& state = ep.state();
  if (state.in_child()) return 0;
  // If other ranks cannot map my counters, their signals arrive in progress.
  const bool mapped =
      ep.mapped_for_value(state.rank, core::kSignalSegment, 0, sizeof(std::uint64_t)) != nullptr;
  if (!mapped) state.transfers->let_others_in();
  return value_of(state, slot);
}

Status reset_signal(Endpoint& ep, SignalSlot slot, std::uint64_t value) noexcept {
  core::Entry entry(ep.state());
  auto& state = ep.state();
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (slot >= core::signal_slots(state)) return refuse_slot(state, state.rank, slot, ErrorCode::out_of_range);
  core::my_counter(state, slot).store(value, std::memory_order_release);
  state.guard.changed();
  return {};
}

bool test_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least) noexcept {
  core::Entry entry(ep.state());
  if (ep.state().in_child()) return true;  // ends a loop that polls; wait_until returns the error
  auto& state = ep.state();
  if (value_of(state, slot) >= at_least) return true;
  core::progress(state);
  return value_of(state, slot) >= at_least;
}

Status wait_until(Endpoint& ep, SignalSlot slot, std::uint64_t at_least, Rank from,
                  std::chrono::nanoseconds limit) noexcept {
  core::Entry entry(ep.state());
  auto& state = ep.state();
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (slot >= core::signal_slots(state)) return refuse_slot(state, state.rank, slot, ErrorCode::out_of_range);
  if (from != kAnyRank && from >= state.ranks) return core::refuse_rank(state, from);
  auto counter = core::my_counter(state, slot);
  Rank gone = kNoRank;
  const auto over = [&] {
    if (counter.load(std::memory_order_acquire) >= at_least) return true;
    if (state.lost_count == 0) [[likely]]
      return false;
    if (from != kAnyRank) {
      if (state.lost[from]) gone = from;
    } else {
      for (Rank r = 0; r < state.ranks && gone == kNoRank; ++r) {
        if (state.lost[r]) gone = r;
      }
    }
    return gone != kNoRank;
  };
  const Status status = core::wait_until(
      state, over, from,
      [&] {
        return fmt::format("signal {} to reach {} (it is {})", slot, at_least,
                           counter.load(std::memory_order_relaxed));
      },
      limit);
  if (!status) return status;
  // A signal that arrived before the loss still counts.
  if (gone != kNoRank && counter.load(std::memory_order_acquire) < at_least)
    return {ErrorCode::peer_lost, gone};
  return {};
}

}  // namespace aqueduct
