#include "c/convert.hpp"

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// A shape of C but a strided one, as that of all transfers. A kind that does not exist gives a shape that no transfer
/// accepts.
detail::Shape shape_from(const aq_shape& from) noexcept {
  detail::Shape shape;
  const bool has_list = from.list != nullptr || from.count == 0 || from.kind == AQ_CONTIGUOUS;
  if (from.reserved != 0 || !has_list) {
    shape.problem = ErrorCode::invalid_argument;
    return shape;
  }
  switch (from.kind) {
    case AQ_CONTIGUOUS: return detail::shape_of(from.bytes);
    case AQ_VECTOR: return detail::shape_of(Vector{{static_cast<const Piece*>(from.list), from.count}});
    case AQ_INDEXED:
      return detail::shape_of(Indexed{{static_cast<const std::int64_t*>(from.list), from.count}, from.bytes});
    default: shape.problem = ErrorCode::invalid_argument; return shape;
  }
}
/// One side of a transfer. A strided shape may have more dimensions than fit into a Shape.
template <class Base>
auto side(Base base, const aq_shape& shape) noexcept {
  if (shape.kind == AQ_STRIDED && shape.reserved == 0 && (shape.list != nullptr || shape.count == 0)) {
    return pieces(base, Strided(shape.bytes, std::span<const Dimension>(
                                                 static_cast<const Dimension*>(shape.list), shape.count)));
  }
  return detail::PiecesAt<Base>{base, shape_from(shape)};
}
RemotePieces remote(aq_ptr base, const aq_shape* shape) noexcept { return side(whole(base), *shape); }
LocalPieces local(void* base, const aq_shape* shape) noexcept {
  return side(static_cast<std::byte*>(base), *shape);
}
LocalConstPieces local(const void* base, const aq_shape* shape) noexcept {
  return side(static_cast<const std::byte*>(base), *shape);
}

bool is_type(int type) noexcept { return type >= AQ_I32 && type <= AQ_F64; }
/// Whether both shapes are strided, with elements of the type's size.
bool are_elements(int type, const aq_shape* there, const aq_shape* here) noexcept {
  const std::size_t bytes = type == AQ_I32 || type == AQ_U32 || type == AQ_F32 ? 4 : 8;
  return there->kind == AQ_STRIDED && here->kind == AQ_STRIDED && there->bytes == bytes &&
         here->bytes == bytes;
}

std::span<const GlobalPtr<std::byte>> list_of(const aq_ptr* list, std::size_t count) noexcept {
  return {reinterpret_cast<const GlobalPtr<std::byte>*>(list), count};
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_put_pieces(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                        const aq_shape* here) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_pieces", {{"ep", ep}, {"there", there}, {"here", here}}));
  return c::plain(put(c::whole(ep), c::remote(to, there), c::local(from, here)));
}
aq_event aq_put_pieces_nb(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                          const aq_shape* here, const aq_options* options) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(
        Event(c::refuse_null(ep, "aq_put_pieces_nb", {{"ep", ep}, {"there", there}, {"here", here}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return put_nb(c::whole(ep), c::remote(to, there), c::local(from, here), call.put());
  });
}
aq_status aq_put_pieces_nbi(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                            const aq_shape* here, const aq_options* options) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_pieces_nbi", {{"ep", ep}, {"there", there}, {"here", here}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    return put_nbi(c::whole(ep), c::remote(to, there), c::local(from, here), call.put());
  });
}
aq_event aq_put_pieces_signal_nb(aq_endpoint* ep, aq_ptr to, const aq_shape* there, const void* from,
                                 const aq_shape* here, uint32_t slot, uint64_t add,
                                 const aq_options* options) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(
        Event(c::refuse_null(ep, "aq_put_pieces_signal_nb", {{"ep", ep}, {"there", there}, {"here", here}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return put_signal_nb(c::whole(ep), c::remote(to, there), c::local(from, here), Signal{slot, add},
                         call.put());
  });
}

aq_status aq_get_pieces(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from, const aq_shape* there) {
  if (ep == nullptr || here == nullptr || there == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get_pieces", {{"ep", ep}, {"here", here}, {"there", there}}));
  return c::plain(get(c::whole(ep), c::local(to, here), c::remote(from, there)));
}
aq_event aq_get_pieces_nb(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from, const aq_shape* there,
                          const aq_options* options) {
  if (ep == nullptr || here == nullptr || there == nullptr) [[unlikely]]
    return c::plain(
        Event(c::refuse_null(ep, "aq_get_pieces_nb", {{"ep", ep}, {"here", here}, {"there", there}})));
  return c::event_of(options, [&](c::CallOptions& call) {
    return get_nb(c::whole(ep), c::local(to, here), c::remote(from, there), call.get());
  });
}
aq_status aq_get_pieces_nbi(aq_endpoint* ep, void* to, const aq_shape* here, aq_ptr from,
                            const aq_shape* there, const aq_options* options) {
  if (ep == nullptr || here == nullptr || there == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get_pieces_nbi", {{"ep", ep}, {"here", here}, {"there", there}}));
  return c::status_of(options, [&](c::CallOptions& call) {
    return get_nbi(c::whole(ep), c::local(to, here), c::remote(from, there), call.get());
  });
}

aq_event aq_accumulate_nb(aq_endpoint* ep, int type, aq_ptr to, const aq_shape* there, const void* from,
                          const aq_shape* here) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(
        Event(c::refuse_null(ep, "aq_accumulate_nb", {{"ep", ep}, {"there", there}, {"here", here}})));
  if (!c::is_type(type) || !c::are_elements(type, there, here))
    return c::plain(Event(Status(ErrorCode::invalid_argument, to.rank)));
  return c::plain(detail::accumulate(c::whole(ep), c::remote(to, there), c::local(from, here),
                                     static_cast<AtomicType>(type)));
}
aq_status aq_accumulate_nbi(aq_endpoint* ep, int type, aq_ptr to, const aq_shape* there, const void* from,
                            const aq_shape* here) {
  if (ep == nullptr || there == nullptr || here == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_accumulate_nbi", {{"ep", ep}, {"there", there}, {"here", here}}));
  if (!c::is_type(type) || !c::are_elements(type, there, here))
    return c::plain({ErrorCode::invalid_argument, to.rank});
  return c::plain(detail::accumulate_nbi(c::whole(ep), c::remote(to, there), c::local(from, here),
                                         static_cast<AtomicType>(type)));
}

aq_status aq_get_elements(aq_endpoint* ep, void* to, const aq_ptr* from, size_t count, size_t bytes) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_get_elements", {{"ep", ep}}));
  if (from == nullptr && count != 0) return c::plain(ErrorCode::invalid_argument);
  return c::plain(
      detail::get_group(c::whole(ep), static_cast<std::byte*>(to), c::list_of(from, count), bytes));
}
aq_status aq_put_elements(aq_endpoint* ep, const aq_ptr* to, const void* from, size_t count, size_t bytes) {
  if (ep == nullptr) [[unlikely]]
    return c::plain(c::refuse_null(ep, "aq_put_elements", {{"ep", ep}}));
  if (to == nullptr && count != 0) return c::plain(ErrorCode::invalid_argument);
  return c::plain(
      detail::put_group(c::whole(ep), c::list_of(to, count), static_cast<const std::byte*>(from), bytes));
}
