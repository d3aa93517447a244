#include "c/messages.hpp"

#include <memory>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// What an aq_prepared holds: no room, or the room of one payload in `place`. All zero is none.
struct Room {
  enum Kind : std::uint64_t { none, request, reply, raw_reply };

  std::uint64_t kind = none;
  alignas(8) std::byte place[48];

  PreparedPayload& of_request() noexcept { return *std::launder(reinterpret_cast<PreparedPayload*>(place)); }
  PreparedReply& of_reply() noexcept { return *std::launder(reinterpret_cast<PreparedReply*>(place)); }

  void cancel() noexcept {
    if (kind == request) std::destroy_at(&of_request());
    if (kind == reply || kind == raw_reply) std::destroy_at(&of_reply());
    kind = none;
  }
};
static_assert(sizeof(Room) == sizeof(aq_prepared) && alignof(Room) == alignof(aq_prepared));
static_assert(sizeof(PreparedPayload) <= sizeof(Room::place) && alignof(PreparedPayload) <= 8);
static_assert(sizeof(PreparedReply) <= sizeof(Room::place) && alignof(PreparedReply) <= 8);

Room& room_in(aq_prepared* prepared) noexcept { return *reinterpret_cast<Room*>(prepared); }

PayloadBounds bounds_of(const aq_bounds& from) noexcept {
  return {from.least, from.most, source(from.own, from.own_bytes)};
}

/// Keeps what was prepared in the caller's memory.
template <class T>
Status keep(Result<T> made, Room::Kind kind, aq_prepared* prepared) noexcept {
  Room* const room = new (prepared) Room;
  if (!made) return made.status();
  new (room->place) T(*std::move(made));
  room->kind = kind;
  return {};
}
template <class F>
aq_status prepare_request(const aq_options* options, aq_prepared* prepared, F make) noexcept {
  *prepared = {};
  return status_of(options,
                   [&](CallOptions& chosen) { return keep(make(chosen.am()), Room::request, prepared); });
}
/// `make` is called with the context of the request: a RawContext or a RequestContext.
template <class F>
aq_status prepare_reply(const aq_incoming* incoming, aq_prepared* prepared, F make) noexcept {
  *prepared = {};
  if (request_of(incoming) == nullptr) return plain(ErrorCode::invalid_argument);
  if (incoming->is_raw != 0) return plain(keep(make(*raw_request_of(incoming)), Room::raw_reply, prepared));
  return plain(keep(make(*request_of(incoming)), Room::reply, prepared));
}

/// After a commit: the room is gone if the message was sent.
aq_status committed(Room& room, Status status) noexcept {
  if (status) room.cancel();
  return plain(status);
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_prepare_medium(aq_endpoint* ep, uint32_t to, const aq_bounds* bounds, const aq_options* options,
                            aq_prepared* prepared) {
  if (ep == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(
        c::refuse_null(ep, "aq_prepare_medium", {{"ep", ep}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_request(options, prepared, [&](const AmOptions& chosen) {
    return prepare_medium(c::whole(ep), to, c::bounds_of(*bounds), chosen);
  });
}
aq_status aq_prepare_long(aq_endpoint* ep, aq_ptr to, const aq_bounds* bounds, const aq_options* options,
                          aq_prepared* prepared) {
  if (ep == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(
        c::refuse_null(ep, "aq_prepare_long", {{"ep", ep}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_request(options, prepared, [&](const AmOptions& chosen) {
    return prepare_long(c::whole(ep), c::whole(to), c::bounds_of(*bounds), chosen);
  });
}
aq_status aq_prepare_long_anywhere(aq_endpoint* ep, uint32_t to, const aq_bounds* bounds,
                                   const aq_options* options, aq_prepared* prepared) {
  if (ep == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_prepare_long_anywhere",
                                   {{"ep", ep}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_request(options, prepared, [&](const AmOptions& chosen) {
    return prepare_long(c::whole(ep), Rank{to}, c::bounds_of(*bounds), chosen);
  });
}
aq_status aq_prepare_reply_medium(const aq_incoming* incoming, const aq_bounds* bounds,
                                  aq_prepared* prepared) {
  if (incoming == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_prepare_reply_medium",
                                   {{"incoming", incoming}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_reply(incoming, prepared,
                          [&](auto& request) { return request.prepare_medium(c::bounds_of(*bounds)); });
}
aq_status aq_prepare_reply_long(const aq_incoming* incoming, aq_ptr to, const aq_bounds* bounds,
                                aq_prepared* prepared) {
  if (incoming == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_prepare_reply_long",
                                   {{"incoming", incoming}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_reply(incoming, prepared, [&](auto& request) {
    return request.prepare_long(c::whole(to), c::bounds_of(*bounds));
  });
}
aq_status aq_prepare_reply_long_anywhere(const aq_incoming* incoming, const aq_bounds* bounds,
                                         aq_prepared* prepared) {
  if (incoming == nullptr || bounds == nullptr || prepared == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_prepare_reply_long_anywhere",
                                   {{"incoming", incoming}, {"bounds", bounds}, {"prepared", prepared}}));
  return c::prepare_reply(incoming, prepared,
                          [&](auto& request) { return request.prepare_long(c::bounds_of(*bounds)); });
}

size_t aq_prepared_size(const aq_prepared* prepared) {
  if (prepared == nullptr) [[unlikely]]
    return {};
  c::Room& room = c::room_in(const_cast<aq_prepared*>(prepared));
  if (room.kind == c::Room::none) return 0;
  return room.kind == c::Room::request ? room.of_request().size() : room.of_reply().size();
}
void* aq_prepared_buffer(aq_prepared* prepared) {
  if (prepared == nullptr) [[unlikely]]
    return {};
  c::Room& room = c::room_in(prepared);
  if (room.kind == c::Room::none) return nullptr;
  const auto buffer = room.kind == c::Room::request ? room.of_request().buffer() : room.of_reply().buffer();
  return buffer.empty() ? nullptr : buffer.data();
}
aq_status aq_prepared_place(aq_prepared* prepared, aq_ptr place) {
  if (prepared == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_prepared_place", {{"prepared", prepared}}));
  c::Room& room = c::room_in(prepared);
  if (room.kind == c::Room::none) return c::plain(ErrorCode::invalid_argument);
  return c::plain(room.kind == c::Room::request ? room.of_request().set_place(c::whole(place))
                                                : room.of_reply().set_place(c::whole(place)));
}
void aq_cancel(aq_prepared* prepared) {
  if (prepared == nullptr) [[unlikely]]
    return;
  c::room_in(prepared).cancel();
}

aq_status aq_commit(aq_prepared* prepared, const aq_call* call, size_t used, const aq_options* options) {
  if (prepared == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_commit",
                                   {{"prepared", prepared}, {"call", call}, c::words_argument(call)}));
  c::Room& room = c::room_in(prepared);
  if (room.kind == c::Room::none) return c::plain(ErrorCode::invalid_argument);
  if (room.kind != c::Room::request)
    return c::committed(room, room.of_reply().commit_plain(call->handler, c::words_of(*call), used));
  c::CallOptions chosen(options);
  if (chosen.wrong()) return c::plain(ErrorCode::invalid_argument);
  return c::committed(room,
                      room.of_request().commit_plain(call->handler, c::words_of(*call), used, chosen.am()));
}
aq_status aq_commit_raw(aq_prepared* prepared, const aq_space* space, const aq_call* call, size_t used,
                        const aq_options* options) {
  if (prepared == nullptr || c::is_missing(call)) [[unlikely]]
    return c::plain(c::refuse_null(nullptr, "aq_commit_raw",
                                   {{"prepared", prepared}, {"call", call}, c::words_argument(call)}));
  c::Room& room = c::room_in(prepared);
  if (room.kind == c::Room::none) return c::plain(ErrorCode::invalid_argument);
  if (room.kind != c::Room::request)
    return c::committed(room, room.of_reply().commit_raw(c::raw_of(*call), used));
  c::CallOptions chosen(options);
  if (chosen.wrong() || space == nullptr) return c::plain(ErrorCode::invalid_argument);
  return c::committed(room,
                      room.of_request().commit_raw(c::whole(space), c::raw_of(*call), used, chosen.am()));
}
