// GASNet-1's collectives, which only the team of all ranks has, and its barrier, which compares names.

#include <aqueduct/coll.hpp>

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <gasnet_coll.h>

#include <cstdint>
#include <optional>

namespace aqueduct::gasnet {
namespace {

constexpr const char* kNoEvent =
    "AQUEDUCT_OPERATIONS events are held, so this call gets none: sync some of them, or raise the setting";

/// GASNet-1's barrier. It goes by the team of all ranks: the specification forbids it beside other collective operations of that team.
struct NamedBarrier {
  bool under_way = false;
  int id = 0;
  int flags = 0;
  std::optional<std::uint32_t> result;  ///< the name of the last one; none if all were anonymous
};
NamedBarrier& named() {
  static NamedBarrier one;
  return one;
}
Team& team_of_barrier() { return state().ep.world(); }

bool is_unnamed(int flags) noexcept {  // all members say so
  return (flags & GASNET_BARRIERFLAG_UNNAMED) == GASNET_BARRIERFLAG_UNNAMED;
}

void notify_barrier(int id, int flags) {
  NamedBarrier& b = named();
  if (b.under_way) fail("gasnet_barrier_notify", "the last barrier has not been waited for");
  b.under_way = true;
  b.id = id;
  b.flags = flags;
  Team& team = team_of_barrier();
  const bool anonymous = (flags & GASNET_BARRIERFLAG_ANONYMOUS) != 0;
  const bool differs = (flags & GASNET_BARRIERFLAG_MISMATCH) != 0 && !is_unnamed(flags);
  const Status status = differs     ? team.disagree()
                        : anonymous ? team.notify()
                                    : team.notify(static_cast<std::uint32_t>(id));
  if (!status) fail("gasnet_barrier_notify", nullptr, status);
}
int end_barrier(int id, int flags) {
  NamedBarrier& b = named();
  Team& team = team_of_barrier();
  const Status status = team.wait();
  const bool differ = status.code() == ErrorCode::mismatch;
  if (!status && !differ) fail("gasnet_barrier_wait", nullptr, status);
  b.under_way = false;
  b.result = team.agreed();
  const auto name = static_cast<std::uint32_t>(id);
  const bool wait_named = (flags & GASNET_BARRIERFLAG_ANONYMOUS) == 0;
  const bool waits_for_another =
      wait_named &&
      ((b.result && name != *b.result) || ((b.flags & GASNET_BARRIERFLAG_ANONYMOUS) == 0 && id != b.id));
  const bool says_mismatch = (flags & GASNET_BARRIERFLAG_MISMATCH) != 0 && !is_unnamed(b.flags);
  return differ || waits_for_another || says_mismatch ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

}  // namespace
}  // namespace aqueduct::gasnet

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

void gasnet_barrier_notify(int id, int flags) {
  check_context("gasnet_barrier_notify");
  notify_barrier(id, flags);
}
int gasnet_barrier_try(int id, int flags) {
  check_context("gasnet_barrier_try");
  if (!named().under_way) fail("gasnet_barrier_try", "there is no barrier to wait for");
  if (!team_of_barrier().try_wait()) return GASNET_ERR_NOT_READY;
  return end_barrier(id, flags);
}
int gasnet_barrier_wait(int id, int flags) {
  check_context("gasnet_barrier_wait");
  if (!named().under_way) fail("gasnet_barrier_wait", "there is no barrier to wait for");
  return end_barrier(id, flags);
}
int gasnet_barrier(int id, int flags) {
  gasnet_barrier_notify(id, flags);
  return gasnet_barrier_wait(id, flags);
}
int gasnet_barrier_result(int* id) {
  const NamedBarrier& b = named();
  if (!b.result) return 1;
  *id = static_cast<int>(*b.result);
  return 0;
}

}  // extern "C"

namespace {

CollOptions options_of(int flags) noexcept {
  CollOptions options;
  options.in = (flags & GASNET_COLL_IN_NOSYNC) != 0   ? Sync::none
               : (flags & GASNET_COLL_IN_MYSYNC) != 0 ? Sync::mine
                                                      : Sync::all;
  options.out = (flags & GASNET_COLL_OUT_NOSYNC) != 0   ? Sync::none
                : (flags & GASNET_COLL_OUT_MYSYNC) != 0 ? Sync::mine
                                                        : Sync::all;
  return options;
}
Team& all() { return *state().world->team; }
std::span<const std::byte> in(const void* from, std::size_t bytes) {
  return {static_cast<const std::byte*>(from), bytes};
}
std::span<std::byte> out(void* to, std::size_t bytes) { return {static_cast<std::byte*>(to), bytes}; }
std::size_t times_all(std::size_t bytes) { return bytes * state().ep.ranks(); }
bool am(gasnet_image_t image) { return state().me() == image; }
/// The handle of a call that has no way to say that it has not begun.
gasnet_coll_handle_t begun(const char* call, Event&& event) {
  const gex_Event_t handle_of_it = handle(call, std::move(event));
  if (handle_of_it == GEX_EVENT_NO_OP) fail(call, kNoEvent);
  return handle_of_it;
}

}  // namespace

extern "C" {

void gasnet_coll_init(const gasnet_image_t*, gasnet_image_t, void*, size_t, int) {}
gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t, void* dst, gasnet_image_t root, void* src,
                                              size_t nbytes, int flags) {
  check_context("gasnet_coll_broadcast");
  return begun("gasnet_coll_broadcast", broadcast_nb(all(), in(src, am(root) ? nbytes : 0), out(dst, nbytes),
                                                     root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t, void* dst, gasnet_image_t root, void* src,
                                            size_t nbytes, int flags) {
  check_context("gasnet_coll_scatter");
  return begun("gasnet_coll_scatter", scatter_nb(all(), in(src, am(root) ? times_all(nbytes) : 0),
                                                 out(dst, nbytes), root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t, gasnet_image_t root, void* dst, void* src,
                                           size_t nbytes, int flags) {
  check_context("gasnet_coll_gather");
  return begun(
      "gasnet_coll_gather",
      gather_nb(all(), in(src, nbytes), out(dst, am(root) ? times_all(nbytes) : 0), root, options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t, void* dst, void* src, size_t nbytes,
                                               int flags) {
  check_context("gasnet_coll_gather_all");
  return begun("gasnet_coll_gather_all",
               all_gather_nb(all(), in(src, nbytes), out(dst, times_all(nbytes)), options_of(flags)));
}
gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t, void* dst, void* src, size_t nbytes,
                                             int flags) {
  check_context("gasnet_coll_exchange");
  return begun("gasnet_coll_exchange", all_to_all_nb(all(), in(src, times_all(nbytes)),
                                                     out(dst, times_all(nbytes)), options_of(flags)));
}
void gasnet_coll_broadcast(gasnet_team_handle_t team, void* dst, gasnet_image_t root, void* src, size_t n,
                           int flags) {
  gex_Event_Wait(gasnet_coll_broadcast_nb(team, dst, root, src, n, flags));
}
void gasnet_coll_scatter(gasnet_team_handle_t team, void* dst, gasnet_image_t root, void* src, size_t n,
                         int flags) {
  gex_Event_Wait(gasnet_coll_scatter_nb(team, dst, root, src, n, flags));
}
void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t root, void* dst, void* src, size_t n,
                        int flags) {
  gex_Event_Wait(gasnet_coll_gather_nb(team, root, dst, src, n, flags));
}
void gasnet_coll_gather_all(gasnet_team_handle_t team, void* dst, void* src, size_t n, int flags) {
  gex_Event_Wait(gasnet_coll_gather_all_nb(team, dst, src, n, flags));
}
void gasnet_coll_exchange(gasnet_team_handle_t team, void* dst, void* src, size_t n, int flags) {
  gex_Event_Wait(gasnet_coll_exchange_nb(team, dst, src, n, flags));
}
int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  gasnet_AMPoll();
  return gex_Event_Test(handle);
}
void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) { gex_Event_Wait(handle); }
void gasnet_coll_barrier_notify(gasnet_team_handle_t, int id, int flags) { gasnet_barrier_notify(id, flags); }
int gasnet_coll_barrier_wait(gasnet_team_handle_t, int id, int flags) {
  return gasnet_barrier_wait(id, flags);
}
int gasnet_coll_barrier_try(gasnet_team_handle_t, int id, int flags) { return gasnet_barrier_try(id, flags); }
int gasnet_coll_barrier(gasnet_team_handle_t, int id, int flags) { return gasnet_barrier(id, flags); }
int gasnet_coll_barrier_result(gasnet_team_handle_t, int* id) { return gasnet_barrier_result(id); }
}
