// Segments and endpoints: what a process may be addressed by.

#include <aqueduct/coll.hpp>

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <algorithm>
#include <mutex>

namespace aqueduct::gasnet {
namespace {

/// Whose memory a segment is.
enum class Memory : std::uint32_t {
  of_client,
  allocated,  ///< by Aqueduct, and not published yet
  attached    ///< by gex_Segment_Attach: all ranks know it
};
Memory memory_of(const aqg_segment& segment) noexcept {
  if (segment.attached) return Memory::attached;
  return segment.memory ? Memory::allocated : Memory::of_client;
}

/// What a rank tells of an endpoint whose segment it publishes.
struct Announcement {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t index = ~0u;  ///< of the endpoint; ~0u: nothing
  Memory memory = Memory::of_client;
  gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL;
  std::uint32_t reserved = 0;
  Bound bound() const noexcept { return {address, bytes, capabilities}; }
};

void learn(unsigned index, Rank rank, const Bound& bound, const aqg_place& place) {
  State& s = state();
  if (!s.bound[index]) {
    s.bound[index] = std::make_unique<Bound[]>(s.ep.ranks());
    s.places[index] = make_places(s.ep.ranks());
  }
  s.bound[index][rank] = bound;
  s.places[index][rank] = place;
  if (index == 0) set_shift(s.shifts[rank], shift_of(place, bound, rank == s.me()));
}

/// What inline functions read about a rank's part of a segment.
aqg_place place_in(const Segment& segment, Rank rank) noexcept {
  const aq_endpoint* const ep = state().world->ep;
  const aq_window* const window = aq_window_of(ep, ep->windows, rank, segment.id());
  const aq_window* const value_window = aq_window_of(ep, ep->value_windows, rank, segment.id());
  return {segment.base_of(rank), segment.id(), 0, window != nullptr ? window : &kClosedWindow,
          value_window != nullptr ? value_window : &kClosedWindow};
}

/// Publishes one endpoint of each member, or none. Collective over the team.
Status publish_one(Tm& tm, aqg_endpoint* ep) {
  State& s = state();
  aqg_segment* const mine = ep != nullptr ? ep->segment : nullptr;
  Announcement announcement;
  if (mine != nullptr) {
    announcement = {reinterpret_cast<std::uint64_t>(mine->address), mine->bytes, ep->index, memory_of(*mine),
                    ep->capabilities};
  }
  std::vector<Announcement> all(tm.size);
  if (Status status = all_gather(*tm.team, std::span<const Announcement>(&announcement, 1), std::span(all));
      !status) {
    return status;
  }
  // The attached segment needs no new one: all ranks know its places, as those of the primordial endpoints.
  for (Rank member = 0; member < tm.size; ++member) {
    const Announcement& one = all[member];
    if (one.memory != Memory::attached || one.index >= kEndpoints) continue;
    const Rank rank = tm.ranks != nullptr ? tm.ranks[member] : member;
    learn(one.index, rank, one.bound(), s.places[0][rank]);
  }
  // Memory of Aqueduct's and of the client's become two segments. A second publication attaches what was published.
  for (const Memory kind : {Memory::allocated, Memory::of_client}) {
    const bool any = std::any_of(all.begin(), all.end(), [&](const Announcement& one) {
      return one.index != ~0u && one.memory == kind;
    });
    if (!any) continue;
    const bool take_part = mine != nullptr && announcement.memory == kind;
    Result<Segment> made = ErrorCode::internal;
    if (kind == Memory::allocated) {
      auto memory = take_part ? Result<SegmentMemory>(std::move(*mine->memory)) : Segment::allocate(s.ep, 0);
      if (take_part) mine->memory.reset();
      made = Segment::publish(*tm.team, std::move(memory));
    } else {
      std::span<std::byte> memory;
      if (take_part) memory = {reinterpret_cast<std::byte*>(mine->address), mine->bytes};
      made = Segment::attach(*tm.team, memory);
    }
    if (!made) return made.status();
    map_all(s.ep, made->id());
    for (Rank member = 0; member < tm.size; ++member) {
      const Announcement& one = all[member];
      if (one.index == ~0u || one.memory != kind || one.index >= kEndpoints) continue;
      const Rank rank = made->rank_of(member);
      learn(one.index, rank, one.bound(), place_in(*made, rank));
    }
  }
  return {};
}

}  // namespace

void check_own_place([[maybe_unused]] const char* call, [[maybe_unused]] const Peer& peer,
                     [[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes) {
#ifdef AQUEDUCT_CHECKED
  // Memory of other ranks is checked by the library.
  State& s = state();
  const Bound none;
  const Bound& bound = peer.remote < kEndpoints && s.bound[peer.remote] ? s.bound[peer.remote][s.me()] : none;
  const auto offset = reinterpret_cast<std::uint64_t>(address) - bound.address;
  if (offset > bound.bytes || bytes > bound.bytes - offset)
    fail(call, "an address of this rank itself lies outside of the bound segment of the endpoint");
#endif
}

int attach(std::uint64_t bytes, aqg_segment** segment) {
  State& s = state();
  const char* const call = "gex_Segment_Attach";
  aqg_endpoint& ep = *s.endpoints[0];
  if (ep.segment != nullptr) return error(GASNET_ERR_NOT_INIT, call, "the endpoint has a segment already");
  if (bytes == 0 || bytes % GASNET_PAGESIZE != 0) {
    return error(GASNET_ERR_BAD_ARG, call, "the size is not a multiple of GASNET_PAGESIZE");
  }
  if (bytes > s.most_segment)
    return error(GASNET_ERR_BAD_ARG, call, "the size is above gasnet_getMaxLocalSegmentSize()");
  // One page more, if the memory does not begin at a page.
  auto memory = Segment::allocate(s.ep, bytes);
  if (memory && reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % GASNET_PAGESIZE != 0) {
    memory = Segment::allocate(s.ep, bytes + GASNET_PAGESIZE);
  }
  auto made = std::make_unique<aqg_segment>();
  if (memory) {
    const auto first = reinterpret_cast<std::uintptr_t>(memory->bytes().data());
    made->address =
        reinterpret_cast<char*>((first + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE);
    if (gasnet_client_attach_hook != nullptr) gasnet_client_attach_hook(made->address, bytes);
  }
  made->bytes = bytes;
  made->attached = true;
  auto published = Segment::publish(s.ep.world(), std::move(memory));
  if (!published) return error(GASNET_ERR_RESOURCE, call, published.status().text().c_str());
  map_all(s.ep, published->id());
  std::vector<Bound> all(s.ep.ranks());
  const Bound mine{reinterpret_cast<std::uint64_t>(made->address), bytes, GEX_EP_CAPABILITY_ALL};
  Status status = all_gather(s.ep.world(), std::span<const Bound>(&mine, 1), std::span(all));
  if (!status) fail(call, nullptr, status);
  for (Rank rank = 0; rank < s.ep.ranks(); ++rank) {
    learn(0, rank, all[rank], place_in(*published, rank));
  }
  ep.segment = made.release();
  if (segment != nullptr) *segment = ep.segment;
  // Not one of the client's team: there the client may hold a barrier that is begun and not waited for.
  if (status = s.exit_team->barrier(); !status) fail(call, nullptr, status);
  return GASNET_OK;
}

}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

namespace {

/// Stores what is known of an endpoint's segment; false if nothing is.
bool query(const Peer& peer, void** owner, void** local, uintptr_t* bytes) {
  State& s = state();
  if (peer.remote >= kEndpoints || peer.rank >= s.ep.ranks() || !s.bound[peer.remote]) return false;
  const Bound& bound = s.bound[peer.remote][peer.rank];
  if (bound.bytes == 0) return false;
  if (owner != nullptr) *owner = reinterpret_cast<void*>(bound.address);
  if (local != nullptr) {
    void* const address = reinterpret_cast<void*>(bound.address);
    // By the table of what is mapped, which takes no lock: handlers may ask, while another thread holds the lock and
    // waits for the client's handler-safe lock. All that can be mapped was, when the segment became known.
    const auto place = place_of(peer, address);
    const bool near = s.nbrhd_of[peer.rank] == s.nbrhd_of[s.me()];
    *local = peer.rank == s.me() ? address
             : near              ? s.ep.mapped(place.rank(), place.segment(), place.offset(), bound.bytes)
                                 : nullptr;
  }
  if (bytes != nullptr) *bytes = bound.bytes;
  return true;
}

}  // namespace

extern "C" {

gex_Client_t gex_Segment_QueryClient(gex_Segment_t) { return &state().client; }
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t) { return 0; }
void* gex_Segment_QueryAddr(gex_Segment_t seg) { return seg->address; }
uintptr_t gex_Segment_QuerySize(gex_Segment_t seg) { return seg->bytes; }
void gex_Segment_SetCData(gex_Segment_t seg, const void* val) { seg->data = const_cast<void*>(val); }
void* gex_Segment_QueryCData(gex_Segment_t seg) { return seg->data; }

int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size) {
  const char* const call = "gex_Segment_Attach";
  check_context(call);
  if (segment_p == nullptr || tm != state().world) {
    return error(GASNET_ERR_BAD_ARG, call,
                 "no place for the result, or the team is not the one of gex_Client_Init");
  }
  return attach(size, segment_p);
}
int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length,
                       gex_MK_t kind, gex_Flags_t flags) {
  const char* const call = "gex_Segment_Create";
  check_context(call);
  if (segment_p == nullptr || client != &state().client || length == 0 || flags != 0) {
    return error(GASNET_ERR_BAD_ARG, call, "no client, no place for the result, no bytes, or flags are set");
  }
  if (kind != GEX_MK_HOST) return error(GASNET_ERR_BAD_ARG, call, "only host memory is supported");
  if (address == nullptr && length > state().most_segment) {
    return error(
        GASNET_ERR_BAD_ARG, call,
        "the length is above gasnet_getMaxLocalSegmentSize(): ask for less, or give memory of your own");
  }
  auto made = std::make_unique<aqg_segment>();
  made->bytes = length;
  made->address = static_cast<char*>(address);
  if (address == nullptr) {
    constexpr uintptr_t kPage = GASNET_PAGESIZE;
    auto memory = Segment::allocate(state().ep, (length + kPage - 1) / kPage * kPage);
    if (!memory) return error(GASNET_ERR_RESOURCE, call, memory.status().text().c_str());
    made->address = reinterpret_cast<char*>(memory->bytes().data());
    made->memory.emplace(std::move(*memory));
  }
  *segment_p = made.release();
  return GASNET_OK;
}
void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  const char* const call = "gex_Segment_Destroy";
  check_context(call);
  if (segment == nullptr || flags != 0)
    fail(call, "there is no segment, or flags are set: pass one, and flags 0");
  if (segment->attached) fail(call, "the segment of gex_Segment_Attach cannot be destroyed");
  delete segment;
}
int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                           uintptr_t* size_p) {
  check_context("gex_Segment_QueryBound");
  return query(peer_of(tm, rank), owneraddr_p, localaddr_p, size_p) ? 0 : 1;
}

gex_Client_t gex_EP_QueryClient(gex_EP_t) { return &state().client; }
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) { return ep->flags; }
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) { return ep->segment; }
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) { return ep->index; }
void gex_EP_SetCData(gex_EP_t ep, const void* val) { ep->data = const_cast<void*>(val); }
void* gex_EP_QueryCData(gex_EP_t ep) { return ep->data; }

int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
  const char* const call = "gex_EP_Create";
  check_context(call);
  State& s = state();
  if (ep_p == nullptr || client != &s.client || capabilities == 0 ||
      (capabilities & ~GEX_EP_CAPABILITY_ALL) != 0 || (flags & ~GEX_FLAG_HINT_ACCEL_ALL) != 0) {
    return error(GASNET_ERR_BAD_ARG, call,
                 "no client, no place for the result, or unknown capabilities or flags");
  }
  if ((capabilities & (GEX_EP_CAPABILITY_COLL | GEX_EP_CAPABILITY_AD)) != 0) {
    return error(
        GASNET_ERR_BAD_ARG, call,
        "further endpoints have neither GEX_EP_CAPABILITY_COLL nor _AD: ask for _RMA, _AM and _VIS only");
  }
  static std::mutex mutex;  // several threads may create endpoints at once
  const std::lock_guard lock(mutex);
  for (unsigned index = 1; index < kEndpoints; ++index) {
    if (s.endpoints[index]) continue;
    s.endpoints[index] = std::make_unique<aqg_endpoint>();
    aqg_endpoint& made = *s.endpoints[index];
    made.index = static_cast<gex_EP_Index_t>(index);
    made.capabilities = capabilities;
    made.flags = flags;
    *ep_p = &made;
    return GASNET_OK;
  }
  return error(GASNET_ERR_RESOURCE, call, "there are GASNET_MAXEPS endpoints");
}
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  const char* const call = "gex_EP_BindSegment";
  check_context(call);
  if (ep == nullptr || segment == nullptr || flags != 0) {
    return error(GASNET_ERR_BAD_ARG, call, "no endpoint, no segment, or flags are set");
  }
  if (ep->segment != nullptr) return error(GASNET_ERR_BAD_ARG, call, "the endpoint has a segment already");
  ep->segment = segment;
  learn(ep->index, state().me(),
        {reinterpret_cast<std::uint64_t>(segment->address), segment->bytes, ep->capabilities}, kNoPlace);
  return GASNET_OK;
}
int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps, gex_Flags_t flags) {
  const char* const call = "gex_EP_PublishBoundSegment";
  check_context(call);
  if (aqg_is_pair(tm) || (eps == nullptr && num_eps != 0) || flags != 0) {
    return error(GASNET_ERR_BAD_ARG, call, "no team, no endpoints, or flags are set");
  }
  Tm& team = whole(tm);
  std::vector<aqg_endpoint*> mine;
  for (size_t i = 0; i < num_eps; ++i) {
    // All ranks know the primordial endpoint's segment since gex_Segment_Attach.
    const aqg_segment* const segment = eps[i]->segment;
    if (segment != nullptr && !(segment->attached && eps[i]->index == 0)) mine.push_back(eps[i]);
  }
  std::uint64_t rounds = mine.size();
  Status status = all_reduce(*team.team, std::span(&rounds, 1), ReduceOp::max);
  for (std::uint64_t i = 0; status && i < rounds; ++i) {
    status = publish_one(team, i < mine.size() ? mine[i] : nullptr);
  }
  if (!status) return error(GASNET_ERR_RESOURCE, call, status.text().c_str());
  return GASNET_OK;
}
gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                                       uintptr_t* size_p, gex_Flags_t flags) {
  // Nothing here communicates, but a client that counts on that in a handler says so.
  if ((flags & GEX_FLAG_IMMEDIATE) == 0) check_context("gex_EP_QueryBoundSegmentNB");
  if (!query(peer_of(tm, rank), owneraddr_p, localaddr_p, size_p) && size_p != nullptr) *size_p = 0;
  return GEX_EVENT_INVALID;
}
}
