#include "vis/piece_transfers.hpp"

#include "vis/normalise.hpp"
#include "vis/operation.hpp"
#include "vis/target.hpp"
#include "vis/varint.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace aqueduct::vis {
namespace {

std::size_t largest_room(const EndpointState& state) noexcept {
  std::size_t most = 0;
  for (const auto* conduit : {state.near.get(), state.far.get()}) {
    if (conduit != nullptr) most = std::max(most, conduit->properties().max_packet);
  }
  return most;
}

}  // namespace

PieceTransfers::PieceTransfers(EndpointState& state)
    : state_(state),
      rma_(*state.transfers),
      staging_buffers_(state.ops, largest_room(state)),
      busy_(state.busy) {
  constexpr std::array<std::string_view, kPlans> kNames{"direct", "pieces", "packed", "box", "native"};
  const auto wanted = std::ranges::find(kNames, state.config.text("vis_plan"));
  forced_ = static_cast<std::uint64_t>(wanted - kNames.begin());  // "auto" is not found: kPlans
  add_packed_handlers(state);
  const Statistics& counts = state.statistics;
  state.add_statistics({{"vis_direct", "transfers", &counts.vis_direct},
                        {"vis_pieces", "transfers", &counts.vis_pieces},
                        {"vis_packed", "transfers", &counts.vis_packed},
                        {"vis_box", "transfers", &counts.vis_box},
                        {"vis_native", "transfers", &counts.vis_native},
                        {"vis_messages", "requests", &counts.vis_messages},
                        {"vis_description_bytes", "bytes", &counts.vis_description_bytes},
                        {"vis_as_strides", "requests", &counts.vis_as_strides},
                        {"vis_as_offsets", "requests", &counts.vis_as_offsets},
                        {"vis_as_pieces", "requests", &counts.vis_as_pieces}});
}

Begun PieceTransfers::start(const Request& request, Completion completion) noexcept try {
  if (copy_regular(request)) return {};
  return start_checked(request, completion);
} catch (const std::bad_alloc&) {
  return {ErrorCode::no_memory, Event(Status(ErrorCode::no_memory))};
}

namespace {

/// Whether the pieces together are one contiguous range, in rising order.
bool contiguous(const Shape& shape, const Survey& about) noexcept {
  if (static_cast<std::uint64_t>(about.highest - about.lowest) != about.bytes) return false;
  if (shape.kind != Shape::Kind::strided) return about.runs == 1;
  return about.pieces == 1 || simplified(shape).dimensions == 0;
}

}  // namespace

// If both sides are contiguous, this is an ordinary put or get, with its signal, and needs neither plan nor Transfer.
// Otherwise returns nothing.
std::optional<Begun> PieceTransfers::as_one(const Request& request, const Survey& there, const Survey& here,
                                            Completion completion) noexcept {
  const bool allowed = forced_ == kPlans || forced_ == static_cast<std::uint64_t>(Plan::pieces);
  if (!allowed || request.what == What::accumulate || !contiguous(request.there, there) ||
      !contiguous(request.here, here))
    return std::nullopt;
  ++state_.statistics.vis_pieces;
  const GlobalPtr<std::byte> far{request.base.rank(), static_cast<std::uint64_t>(there.lowest),
                                 request.base.segment()};
  auto* const own = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(here.lowest));
  if (request.what == What::get)
    return rma_.get(own, far, there.bytes, completion, request.options.immediate, request.options.group,
                    {rma::WordPromise::any, request.part_of});
  return rma_.put(far, own, there.bytes, completion, request.options, request.signal, nullptr,
                  {rma::WordPromise::any, request.part_of});
}

Begun PieceTransfers::start_checked(const Request& request, Completion completion) {
  if (request.options.source_event != nullptr) *request.options.source_event = Event{};
  const Rank peer = request.base.rank();
  Survey there;
  Survey here;
  if (const Status status = check(request, there, here); !status) return {status, Event(status)};
  const auto signal = [&]() -> Begun {
    return request.signal != nullptr ? rma_.signal(peer, *request.signal, completion) : Begun{};
  };
  if (there.bytes == 0) return signal();
  const auto extent = static_cast<std::uint64_t>(there.highest - there.lowest);
  const GlobalPtr<std::byte> first{peer, static_cast<std::uint64_t>(there.lowest), request.base.segment()};
  if (request.what != What::get) {  // a fence may hold it back: it is not cut into pieces before its turn
    const Status status = rma_.wait_for_turn(peer, request.options.immediate);
    if (!status) return {status, Event(status)};
  }
  const rma::Access access = rma_.access(first, extent);
  if (!access.status) return {access.status, Event(access.status)};
  if (access.mapped != nullptr &&
      (forced_ == kPlans || forced_ == static_cast<std::uint64_t>(Plan::direct)) &&
      copy_direct(request, access.mapped, there))
    return signal();
  if (auto begun = as_one(request, there, here, completion)) return std::move(*begun);
  // Where memory is mapped, the code above also works inside a handler. What follows sends messages.
  if (state_.polling) return {ErrorCode::in_handler, Event(Status(ErrorCode::in_handler))};

  Transfer* const taken = take();
  Transfer& t = *taken;
  t.what = request.what;
  t.type = request.type;
  t.peer = peer;
  t.segment = request.base.segment();
  t.key = access.part->key;
  // The transfer keeps simplified copies of both shapes, with the base added: fewer pieces, and often a list becomes a
  // strided shape, which is short to describe.
  const auto settle = [](Shape& shape, const Shape& given, std::uint64_t base, Survey& about) {
    const auto found = strides_in(given, about);
    shape = simplified(found ? *found : given);
    shape.base += base;
    if (shape.kind == Shape::Kind::strided) about.runs = about.pieces = about.bytes / shape.bytes;
  };
  settle(t.there, request.there, request.base.offset(), there);
  settle(t.here, request.here, request.here_base, here);
  t.about_there = there;
  t.about_here = here;
  t.there_at = Cursor(t.there, t.about_there.bytes);
  t.here_at = Cursor(t.here, t.about_here.bytes);
  t.plan = choose(t, access.part, request.signal != nullptr);
  return begin(request, t, completion);
}

namespace {

/// Whether it is a strided shape whose pieces come in the order of memory, upwards or downwards in each dimension. Of a
/// transposed one, pieces that follow one another are far apart.
bool is_nested(const Shape& shape) noexcept {
  if (shape.kind != Shape::Kind::strided) return false;
  const auto dims = std::span(shape.dims).first(shape.dimensions);
  return std::ranges::is_sorted(dims, std::ranges::greater(),
                                [](const Extent& d) { return std::abs(d.stride); });
}

}  // namespace

Question PieceTransfers::question(const Transfer& t, const core::SegmentPart* part) const noexcept {
  core::Conduit& conduit = state_.conduit(t.peer);
  Question q;
  q.is_get = t.what == What::get;
  q.far = &conduit == state_.far.get();
  q.native_rma = part->reach == core::SegmentPart::Reach::native;
  q.bytes = t.about_there.bytes;
  q.runs_there = t.about_there.runs;
  q.runs = std::max(t.about_there.runs, t.about_here.runs);
  q.spread = static_cast<std::uint64_t>(t.about_there.highest - t.about_there.lowest);
  q.near_one_another = is_nested(t.there) || t.about_there.rising;
  q.packet = state_.messages->room(t.peer, false, sizeof(PackedRequest));
  q.box = q.is_get ? most_in_box(t.peer) : 0;
  if (core::NativeVector* vector = conduit.vector(); vector != nullptr && q.native_rma) {
    q.list = t.about_here.runs == 1    ? vector->most_remote()
             : t.about_there.runs == 1 ? vector->most_local()
                                       : std::min(vector->most_local(), vector->most_remote());
  }
  q.forced = forced_;
  return q;
}

namespace {

/// Whether the data of a put and its description certainly fit one packet.
bool fits_one_packet(const Transfer& t, const Question& q) noexcept {
  const std::uint64_t numbers =
      t.there.kind == Shape::Kind::strided ? 3 + 2 * std::uint64_t{t.there.dimensions} : 2 + 2 * q.runs_there;
  return q.bytes <= q.packet && numbers * kMostVarint + 8 <= q.packet - q.bytes;
}

}  // namespace

Plan PieceTransfers::choose(Transfer& t, core::SegmentPart* part, bool signalled) noexcept {
  t.choice = {};
  if (t.what == What::accumulate) {
    core::NativeAtomics* atomics = state_.atomics_by_processor ? nullptr : state_.conduit(t.peer).atomics();
    const bool by_network = atomics != nullptr && atomics->operations().has(AtomicOp::add, t.type) &&
                            rma_.has_key(*part, t.peer).value_or(false);
    return by_network ? Plan::pieces : Plan::packed;
  }
  const Question q = question(t, part);
  // A packed put that fits one packet carries its signal. It arrives a round trip earlier than a signal that waits
  // for the answers. Another plan is better only if it saves more than that round trip, such as RDMA of lists, which
  // also needs no processor at the target.
  if (signalled && q.forced >= kPlans && fits_one_packet(t, q)) {
    constexpr float kRoundTrip = 2000;  // ns as the model counts them; chosen
    const auto cost = Planner::model(q);
    if (cost[static_cast<std::size_t>(Plan::packed)] <= *std::ranges::min_element(cost) + kRoundTrip)
      return Plan::packed;
  }
  t.choice = planner_.choose(q);
  return t.choice.plan;
}

Begun PieceTransfers::begin(const Request& request, Transfer& t, Completion completion) noexcept {
  const core::OpKind& kind = t.what == What::get ? kGetKind : kPutKind;
  core::SourceUse source;
  if (t.what != What::get) {
    if (const Status status = rma_.take_source(t.peer, request.options, source); !status) {
      give_back(t);
      return {status, Event(status)};
    }
  }
  auto begun =
      rma_.begin(kind, t.peer, completion, request.options.immediate, request.options.group, request.part_of);
  if (!begun) {
    give_back(t);
    source.give_up(state_, begun.status());
    return {begun.status(), Event(begun.status())};
  }
  core::Op& op = **begun;
  Operation& operation = Operation::of(op) = {};
  t.op = &op;
  op.by_packets = t.plan == Plan::packed;
  if (t.what != What::get) rma::Transfers::give_source(op, request.options, source);
  operation.has_signal = request.signal != nullptr;
  if (request.signal != nullptr) operation.signal = *request.signal;
  // For last_part_ended, which tells the planner how long this transfer took: its start and its plan. Key 0 means no
  // report: with other operations in flight the time would say little about the plan.
  op.ended = last_part_ended;
  op.layer = this;
  operation.choice = t.choice;
  if (state_.ops.in_flight() - (source.taken() ? 1 : 0) != 1) operation.choice.key = 0;
  operation.since = operation.choice.key != 0 ? state_.clock.nanoseconds() : 0;
  // For stall reports.
  operation.segment = t.segment;
  operation.lowest = static_cast<std::uint64_t>(t.about_there.lowest);
  operation.bytes = t.about_there.bytes;
  operation.begun = 0;
  switch (t.plan) {
    case Plan::box: ++state_.statistics.vis_box; break;
    case Plan::native: ++state_.statistics.vis_native; break;
    case Plan::pieces: ++state_.statistics.vis_pieces; break;
    default: ++state_.statistics.vis_packed; break;
  }

  // The first step, in the call. If it finishes the posting, the Transfer is free again, and the operation waits for
  // its answers alone. If nothing was posted at all, the operation and its source Event leave no trace.
  const Step step = go_on(t);
  const Status status = op.outcome;
  if (step == Step::over) give_back(t);
  if (step == Step::again) enqueue(t);
  const bool nothing_begun = !status && op.parts == 1;
  if (nothing_begun && source.taken()) {
    op.source = nullptr;
    source.give_up(state_, status);
  }
  Begun result = rma_.finish(op, status, completion, step == Step::over);
  if (source.taken()) static_cast<void>(source.hand_over(state_));  // the operation itself reports a failure
  return result;
}

}  // namespace aqueduct::vis
