// Vector, indexed and strided transfers. The lists of GASNet are those of Aqueduct: addresses are offsets from the base 0 of
// local memory, and from a remote base that is the owner's address, negated.

#include <aqueduct/vis.hpp>

#include "compat/gasnet/mapped_pieces.hpp"
#include "compat/gasnet/mapped_strided.hpp"
#include "compat/gasnet/own_pieces.hpp"
#include "compat/gasnet/state.hpp"

#include <gasnet_vis.h>

#include <functional>

namespace aqueduct::gasnet {
namespace {

constexpr std::size_t kDimensions = 32;  // without an allocation

static_assert(sizeof(gex_Memvec_t) == sizeof(Piece) &&
              offsetof(gex_Memvec_t, gex_len) == offsetof(Piece, bytes));

Vector vector_of(std::size_t count, const gex_Memvec_t* list) noexcept {
  return {{reinterpret_cast<const Piece*>(list), count}};
}
Indexed indexed_of(std::size_t count, void* const* list, std::size_t bytes) noexcept {
  return {{reinterpret_cast<const std::int64_t*>(list), count}, bytes};
}

/// GASNet's first dimension is the fastest, Aqueduct's the slowest.
Strided strided_of(std::size_t bytes, const std::size_t* count, const std::ptrdiff_t* strides,
                   std::size_t levels) {
  if (levels <= kDimensions) {
    Dimension dims[kDimensions];
    for (std::size_t i = 0; i < levels; ++i) dims[levels - 1 - i] = {count[i], strides[i]};
    return Strided(bytes, std::span<const Dimension>(dims, levels));
  }
  std::vector<Dimension> dims(levels);
  for (std::size_t i = 0; i < levels; ++i) dims[levels - 1 - i] = {count[i], strides[i]};
  return Strided(bytes, dims);
}

/// The base from which the owner's addresses are offsets.
GlobalPtr<std::byte> remote_base(const Peer& peer) noexcept { return place_of(peer, nullptr); }
std::byte* local_base() noexcept { return nullptr; }

/// A transfer that was asked for, in one of three ways of completion.
enum class Form { nb, nbi, blocking };

/// Sends the notice that gex_VIS_SetPeerCompletionHandler has asked for, after a put that is complete.
void notify_if_armed(const Peer& peer) {
  if (__atomic_load_n(&aqg_vis_notices, __ATOMIC_RELAXED) == 0) return;  // by no thread yet
  auto& armed = thread().after_pieces;
  if (armed.handler == 0) return;
  const auto notice = std::exchange(armed, {});
  notify(peer, notice.handler, notice.payload, notice.bytes);
}

template <class R>
R begin_put(const char* call, Form form, const Peer& peer, const RemotePieces& to,
            const LocalConstPieces& from, gex_Flags_t flags) {
  State& s = state();
  Thread& here = thread();
  PutOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  if (form == Form::blocking || here.after_pieces.handler != 0) {
    // A put with a notice waits, so that the notice comes after it.
    const Status status = s.ep.wait(put_nb(s.ep, to, from, options));
    const bool done = done_or_refused(call, peer, status);
    if (done) notify_if_armed(peer);
    if constexpr (std::is_same_v<R, gex_Event_t>) {
      return done ? GEX_EVENT_INVALID : GEX_EVENT_NO_OP;
    } else {
      return done ? 0 : 1;
    }
  }
  const bool leaf = (flags & GEX_FLAG_ENABLE_LEAF_LC) != 0;
  if (leaf) options.source = SourceReuse::on_event;
  if constexpr (std::is_same_v<R, gex_Event_t>) {
    Event source;
    if (leaf) options.source_event = &source;
    Event event = put_nb(s.ep, to, from, options);
    if (!leaf) return handle(call, std::move(event));
    gex_Event_t unused;  // gex_Event_QueryLeaf finds it
    return handle(call, std::move(event), std::move(source), &unused);
  } else {
    options.group = group_of(here, here.puts);
    return done_or_refused(call, peer, put_nbi(s.ep, to, from, options)) ? 0 : 1;
  }
}

template <class R>
R begin_get(const char* call, Form form, const Peer& peer, const LocalPieces& to, const RemotePieces& from,
            gex_Flags_t flags) {
  State& s = state();
  GetOptions options;
  options.immediate = (flags & GEX_FLAG_IMMEDIATE) != 0;
  if constexpr (std::is_same_v<R, gex_Event_t>) {
    static_cast<void>(form);
    return handle(call, get_nb(s.ep, to, from, options));
  } else {
    if (form == Form::blocking) {
      return done_or_refused(call, peer, s.ep.wait(get_nb(s.ep, to, from, options))) ? 0 : 1;
    }
    Thread& here = thread();
    options.group = group_of(here, here.gets);
    return done_or_refused(call, peer, get_nbi(s.ep, to, from, options)) ? 0 : 1;
  }
}

/// A transfer that is over.
template <class R>
R over() noexcept {
  return R{};  // GEX_EVENT_INVALID, or 0
}
/// A put that is over.
template <class R>
R over(const Peer& peer) {
  notify_if_armed(peer);
  return over<R>();
}
/// The same, for those that have not looked for the peer.
template <class R>
R over(gex_TM_t tm, gex_Rank_t rank) {
  if (__atomic_load_n(&aqg_vis_notices, __ATOMIC_RELAXED) != 0) [[unlikely]]
    notify_if_armed(peer_of(tm, rank));
  return over<R>();
}

/// Lists without bytes move nothing, wherever their pieces would be.
template <class To, class From>
bool moves_nothing(To to, From from) noexcept {
  return to.next().bytes == 0 && from.next().bytes == 0;
}
bool moves_nothing(std::size_t bytes, const std::size_t* count, std::size_t levels) noexcept {
  if (bytes == 0) return true;
  for (std::size_t i = 0; i < levels; ++i) {
    if (count[i] == 0) return true;
  }
  return false;
}

template <class R>
[[gnu::noinline]] R vector_get(Form form, gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                               gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                               gex_Flags_t flags) {
  const Peer peer = peer_of(tm, srcrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_VectorGet", OwnVector(dstcount, dstlist), OwnVector(srccount, srclist));
    return over<R>();
  }
  if (get_mapped(peer, OwnVector(dstcount, dstlist), OwnVector(srccount, srclist)) ||
      moves_nothing(OwnVector(dstcount, dstlist), OwnVector(srccount, srclist)))
    return over<R>();
  return begin_get<R>("gex_VIS_VectorGet", form, peer, pieces(local_base(), vector_of(dstcount, dstlist)),
                      pieces(remote_base(peer), vector_of(srccount, srclist)), flags);
}
template <class R>
[[gnu::noinline]] R vector_put(Form form, gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                               gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[],
                               gex_Flags_t flags) {
  const Peer peer = peer_of(tm, dstrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_VectorPut", OwnVector(dstcount, dstlist), OwnVector(srccount, srclist));
    return over<R>(peer);
  }
  if (put_mapped(peer, OwnVector(dstcount, dstlist), OwnVector(srccount, srclist)) ||
      moves_nothing(OwnVector(dstcount, dstlist), OwnVector(srccount, srclist)))
    return over<R>(peer);
  return begin_put<R>("gex_VIS_VectorPut", form, peer,
                      pieces(remote_base(peer), vector_of(dstcount, dstlist)),
                      pieces(local_base(), vector_of(srccount, srclist)), flags);
}
template <class R>
[[gnu::noinline]] R indexed_get(Form form, gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,
                                gex_Rank_t srcrank, size_t srccount, void* const srclist[], size_t srclen,
                                gex_Flags_t flags) {
  const Peer peer = peer_of(tm, srcrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_IndexedGet", OwnIndexed(dstcount, dstlist, dstlen),
             OwnIndexed(srccount, srclist, srclen));
    return over<R>();
  }
  if (get_mapped(peer, OwnIndexed(dstcount, dstlist, dstlen), OwnIndexed(srccount, srclist, srclen)) ||
      moves_nothing(OwnIndexed(dstcount, dstlist, dstlen), OwnIndexed(srccount, srclist, srclen)))
    return over<R>();
  return begin_get<R>("gex_VIS_IndexedGet", form, peer,
                      pieces(local_base(), indexed_of(dstcount, dstlist, dstlen)),
                      pieces(remote_base(peer), indexed_of(srccount, srclist, srclen)), flags);
}
template <class R>
[[gnu::noinline]] R indexed_put(Form form, gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                void* const dstlist[], size_t dstlen, size_t srccount, void* const srclist[],
                                size_t srclen, gex_Flags_t flags) {
  const Peer peer = peer_of(tm, dstrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_IndexedPut", OwnIndexed(dstcount, dstlist, dstlen),
             OwnIndexed(srccount, srclist, srclen));
    return over<R>(peer);
  }
  if (put_mapped(peer, OwnIndexed(dstcount, dstlist, dstlen), OwnIndexed(srccount, srclist, srclen)) ||
      moves_nothing(OwnIndexed(dstcount, dstlist, dstlen), OwnIndexed(srccount, srclist, srclen)))
    return over<R>(peer);
  return begin_put<R>("gex_VIS_IndexedPut", form, peer,
                      pieces(remote_base(peer), indexed_of(dstcount, dstlist, dstlen)),
                      pieces(local_base(), indexed_of(srccount, srclist, srclen)), flags);
}
template <class R>
[[gnu::noinline]] R strided_get(Form form, gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],
                                size_t elemsz, const size_t count[], size_t levels, gex_Flags_t flags) {
  if (moves_nothing(elemsz, count, levels)) return over<R>();
  const Peer peer = peer_of(tm, srcrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_StridedGet", OwnStrided(dstaddr, dststrides, elemsz, count, levels),
             OwnStrided(srcaddr, srcstrides, elemsz, count, levels));
    return over<R>();
  }
  const Merged few(dststrides, srcstrides, elemsz, count, levels);
  if (few.has_few_elements() &&
      get_mapped(peer, OwnStrided(dstaddr, few.to_strides, few.bytes, few.count, few.levels),
                 OwnStrided(srcaddr, few.from_strides, few.bytes, few.count, few.levels)))
    return over<R>();
  return begin_get<R>("gex_VIS_StridedGet", form, peer,
                      pieces(static_cast<std::byte*>(dstaddr), strided_of(elemsz, count, dststrides, levels)),
                      pieces(place_of(peer, srcaddr), strided_of(elemsz, count, srcstrides, levels)), flags);
}
template <class R>
[[gnu::noinline]] R strided_put(Form form, gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[],
                                size_t elemsz, const size_t count[], size_t levels, gex_Flags_t flags) {
  if (moves_nothing(elemsz, count, levels)) {
    // The team and the rank may be anything then, unless a notice is to go there.
    if (thread().after_pieces.handler != 0)
      notify_if_armed(peer_of(tm, dstrank));  // or it would follow the next put, with memory that may be gone
    return over<R>();
  }
  const Peer peer = peer_of(tm, dstrank);
  if (is_own_and_unpublished(peer)) {
    copy_own("gex_VIS_StridedPut", OwnStrided(dstaddr, dststrides, elemsz, count, levels),
             OwnStrided(srcaddr, srcstrides, elemsz, count, levels));
    return over<R>(peer);
  }
  const Merged few(dststrides, srcstrides, elemsz, count, levels);
  if (few.has_few_elements() &&
      put_mapped(peer, OwnStrided(dstaddr, few.to_strides, few.bytes, few.count, few.levels),
                 OwnStrided(srcaddr, few.from_strides, few.bytes, few.count, few.levels)))
    return over<R>(peer);
  return begin_put<R>(
      "gex_VIS_StridedPut", form, peer,
      pieces(place_of(peer, dstaddr), strided_of(elemsz, count, dststrides, levels)),
      pieces(static_cast<const std::byte*>(srcaddr), strided_of(elemsz, count, srcstrides, levels)), flags);
}

/// What a strided transfer most often is: one with another rank of a team, of no more elements than suit a loop. False: as put_elements.
template <auto Elements>
bool few_elements(gex_TM_t tm, gex_Rank_t rank, void* to, const std::ptrdiff_t* to_strides, void* from,
                  const std::ptrdiff_t* from_strides, std::size_t bytes, const std::size_t* count,
                  std::size_t levels) {
  if (moves_nothing(bytes, count, levels)) return false;
  const Merged few(to_strides, from_strides, bytes, count, levels);
  return few.suits_loop() && Elements(MappedPart(tm, rank), few, to, from);
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

int aqg_vis_notices = 0;

// The most frequent first, apart from the others, which need more registers.
#define AQG_FORMS(R, NAME, form)                                                                            \
  R aqg_vis_VectorGet##NAME(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank, \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {             \
    if (get_equal(MappedPart(tm, srcrank), dstcount, dstlist, srccount, srclist)) return over<R>();         \
    return vector_get<R>(form, tm, dstcount, dstlist, srcrank, srccount, srclist, flags);                   \
  }                                                                                                         \
  R aqg_vis_VectorPut##NAME(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[], \
                            size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {             \
    if (put_equal(MappedPart(tm, dstrank), dstcount, dstlist, srccount, srclist))                           \
      return over<R>(tm, dstrank);                                                                          \
    return vector_put<R>(form, tm, dstrank, dstcount, dstlist, srccount, srclist, flags);                   \
  }                                                                                                         \
  R aqg_vis_IndexedGet##NAME(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,            \
                             gex_Rank_t srcrank, size_t srccount, void* const srclist[], size_t srclen,     \
                             gex_Flags_t flags) {                                                           \
    if (get_equal(MappedPart(tm, srcrank), dstcount, dstlist, dstlen, srccount, srclist, srclen))           \
      return over<R>();                                                                                     \
    return indexed_get<R>(form, tm, dstcount, dstlist, dstlen, srcrank, srccount, srclist, srclen, flags);  \
  }                                                                                                         \
  R aqg_vis_IndexedPut##NAME(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void* const dstlist[],       \
                             size_t dstlen, size_t srccount, void* const srclist[], size_t srclen,          \
                             gex_Flags_t flags) {                                                           \
    if (put_equal(MappedPart(tm, dstrank), dstcount, dstlist, dstlen, srccount, srclist, srclen))           \
      return over<R>(tm, dstrank);                                                                          \
    return indexed_put<R>(form, tm, dstrank, dstcount, dstlist, dstlen, srccount, srclist, srclen, flags);  \
  }                                                                                                         \
  R aqg_vis_StridedGet##NAME(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,  \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                    \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags) {                \
    if (few_elements<get_elements>(tm, srcrank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count,    \
                                   stridelevels))                                                           \
      return over<R>();                                                                                     \
    return strided_get<R>(form, tm, dstaddr, dststrides, srcrank, srcaddr, srcstrides, elemsz, count,       \
                          stridelevels, flags);                                                             \
  }                                                                                                         \
  R aqg_vis_StridedPut##NAME(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr, const ptrdiff_t dststrides[],  \
                             void* srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,                    \
                             const size_t count[], size_t stridelevels, gex_Flags_t flags) {                \
    if (few_elements<put_elements>(tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count,    \
                                   stridelevels))                                                           \
      return over<R>(tm, dstrank);                                                                          \
    return strided_put<R>(form, tm, dstrank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count,       \
                          stridelevels, flags);                                                             \
  }
AQG_FORMS(gex_Event_t, NB, Form::nb)
AQG_FORMS(int, NBI, Form::nbi)
AQG_FORMS(int, Blocking, Form::blocking)
#undef AQG_FORMS

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr, size_t nbytes,
                                      gex_Flags_t) {
  if (nbytes > GEX_VIS_MAX_PEERCOMPLETION) {
    fail("gex_VIS_SetPeerCompletionHandler", "the payload exceeds GEX_VIS_MAX_PEERCOMPLETION");
  }
  __atomic_store_n(&aqg_vis_notices, 1, __ATOMIC_RELAXED);
  thread().after_pieces = {handler, source_addr, nbytes};
}
}
