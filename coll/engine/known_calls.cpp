// What a team keeps of its latest calls, and what calls and plans name.

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/checked_buffers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <utility>

namespace aqueduct::coll {

namespace {

// Chosen: calls of a shape that are commonly in flight at once.
constexpr std::size_t kInReserve = 4;

}  // namespace

// Empty buffers may have any address, so there the next call may differ in more than this.
bool may_be_known(const aqueduct::detail::CollCall& given, const Request& request) noexcept {
  return request.shape.bytes != 0 && !is_known(given.in) && !is_known(given.out);
}

/// A call that is about to be made, or bound. The caller gives it up.
Result<KnownCall*> TeamEngine::know(const Request& request) noexcept {
  Method* method = nullptr;
  if (ranks_ > 1) {
    if (!layout_) {
      log_no_scratch(request);
      return ErrorCode::no_memory;
    }
    if (!be_ready()) return no_memory_here();
    const auto found = method_of(request);
    if (!found) return found.status();
    method = *found;
    latest_algorithm_ = method->algorithm;
  }
  KnownCall* const call = layer_.known_calls().take();
  if (call == nullptr) return no_memory_here();
  // Known calls keep the records of former ones. The first call of a shape takes memory for its next ones too.
  layer_.runs().reserve(kInReserve);
  layer_.operations().reserve(kInReserve);
  call->request = request;
  call->uses = 1;
  call->kept = call->noted_here = false;
  call->prepared = nullptr;
  call->blocks = nullptr;
  have_method(*call, method);
  if (method != nullptr && method->on_board && !plan_for_board(*call)) {
    give_up(*call);
    return no_memory_here();
  }
  return call;
}

/// `method`: null on a team of one member.
void TeamEngine::have_method(KnownCall& call, Method* method) noexcept {
  call.method = method;
  if (method == nullptr) return;
  ++method->uses;
  call.request.description.algorithm = method->hash;
  call.digest = digest_of(call.request.description);
  call.run = method->run;
  call.run.root = call.request.shape.root;
}

/// Keeps a call for the next one that differs from it in its addresses alone. Requires: may_be_known.
void TeamEngine::keep(KnownCall& call, const CollCall& given) noexcept {
  set_given(call, given);
  call.kept = true;
  ++call.uses;
  if (KnownCall* const before = std::exchange(latest_->known[LatestCalls::place_of(given)], &call))
    let_go(*before);
}

/// The plan or the table that has kept it does so no longer, so no further call is like it.
void TeamEngine::let_go(KnownCall& call) noexcept {
  call.kept = false;
  drop_prepared(call);
  give_up(call);
}

/// A call, a plan or the table names it no longer.
void TeamEngine::give_up(KnownCall& call) noexcept {
  if (--call.uses != 0) return;
  if (call.noted_here) agreement_.forget(call.request.description);
  if (call.method != nullptr) give_up(*call.method);
  if (call.blocks != nullptr && --call.blocks->uses == 0) layer_.blocks_calls().give_back(*call.blocks);
  layer_.known_calls().give_back(call);
}

}  // namespace aqueduct::coll
