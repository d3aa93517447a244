// What goes wrong: requests that fail, peers that are lost, a device that has troubles.

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/ibv_conduit.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: how many idle peers are asked for a sign of life at once.
constexpr Rank kProbes = 8;

const char* name_of(Flight::Kind kind) {
  switch (kind) {
    case Flight::Kind::own: return "a write of the conduit's own";
    case Flight::Kind::packet: return "a message";
    case Flight::Kind::part:
    case Flight::Kind::put: return "a put";
    case Flight::Kind::get: return "a get";
    case Flight::Kind::share: return "a share of a large transfer";
    case Flight::Kind::atomic: return "an atomic";
  }
  return "?";
}

}  // namespace

// A failed request ends the queue pair, and with it what was under way to that peer: messages among it, which others
// wait for. So the peer is lost, whatever the reason.
void IbvConduit::explain(const Link& link, const Flight& flight, const ibv_wc& completion) noexcept {
  const char* const text = env_.verbs.wc_status_str(completion.status);
  if (code_of(completion.status) != ErrorCode::peer_lost) {
    if (flight.kind >= Flight::Kind::part) {
      const Key& key = memory_.remote(flight.key);
      env_.log.error(
          "ibv: rank {}: {} of {} bytes failed, rank {}, segment {}, offset {}, key {:#x}: {} ({:#x}). {}",
          env_.me, name_of(flight.kind), flight.bytes, link.peer, key.id, flight.offset, key.key, text,
          completion.vendor_err, advice_for(completion.status));
    } else {
      env_.log.error("ibv: rank {}: {} to rank {} failed: {} ({:#x}). {}", env_.me, name_of(flight.kind),
                     link.peer, text, completion.vendor_err, advice_for(completion.status));
    }
  } else if (completion.status != IBV_WC_WR_FLUSH_ERR && !losses_.is_suspected(link.peer)) {
    env_.log.info("ibv: rank {}: rank {}: {}: {}", env_.me, link.peer, text, advice_for(completion.status));
  }
  take_events();  // the device may know more
  losses_.suspect(link.peer, text);
}

// The queue pair ends first: then the device uses none of the caller's memory any more, and all can be told.
int IbvConduit::bury(Rank peer, core::Inbox& inbox) noexcept {
  if (!losses_.mark_gone(peer)) return 0;
  Link* const link = connections_.find(peer);
  if (link == nullptr) return 0;
  requests_.drop_held(*link);
  Connections::close(*link);
  int calls = 0;
  while (link->flights.count() > 0) calls += end_front(*link, losses_.status_of(peer), inbox);
  while (const std::optional<Bounced> one = bounces_.take(peer)) {
    if (one->token) calls += tell(one->ends, *one->token, losses_.status_of(peer), inbox);
  }
  return calls + striping_.end_all_with(peer, inbox);
}

// Who waits for a peer that has died silently would do so for ever: an empty write shows whether its adapter answers. Not
// where the latest request will tell its end, for that shows it as well; quiet ones never do, though they may have ended.
void IbvConduit::check_peers(core::Inbox&) noexcept {
  take_events();
  const auto ranks = env_.ranks;
  Rank asked = 0;
  for (Rank looked = 0; looked < ranks && asked < kProbes; ++looked, probed_ = (probed_ + 1) % ranks) {
    Link* const link = connections_.find(probed_);
    if (link == nullptr || !link->ready || probed_ == env_.me) continue;
    if (link->flights.count() != 0 && link->quiet == 0) continue;
    static_cast<void>(requests_.probe(*link, Flight::Kind::own));
    ++asked;
  }
}

void IbvConduit::take_events() noexcept {
  striping_.take_events();
  ibv_async_event event{};
  while (env_.verbs.get_async_event(env_.objects.context.get(), &event) == 0) {
    const char* const text = env_.verbs.event_type_str(event.event_type);
    switch (event.event_type) {
      case IBV_EVENT_DEVICE_FATAL:
      case IBV_EVENT_CQ_ERR:
      case IBV_EVENT_SRQ_ERR: losses_.give_up(text); break;
      case IBV_EVENT_PORT_ERR:
        env_.log.warn("ibv: rank {}: the link of {}:{} is down ({}): peers are lost if it stays so", env_.me,
                      env_.port.device, event.element.port_num, text);
        break;
      case IBV_EVENT_PORT_ACTIVE:
        env_.log.info("ibv: rank {}: the link of {}:{} is up again", env_.me, env_.port.device,
                      event.element.port_num);
        break;
      case IBV_EVENT_GID_CHANGE:
      case IBV_EVENT_LID_CHANGE:
        env_.log.warn(
            "ibv: rank {}: {}:{} has other addresses now ({}): who is not connected yet will not be", env_.me,
            env_.port.device, event.element.port_num, text);
        break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        if (const Link* const link = connections_.find_by_pair(event.element.qp->qp_num); link != nullptr) {
          env_.log.warn("ibv: rank {}: {}: the queue pair of rank {}: {}", env_.me, env_.port.device,
                        link->peer, text);
          losses_.suspect(link->peer, text);
        }
        break;
      default: env_.log.debug("ibv: rank {}: {}: {}", env_.me, env_.port.device, text); break;
    }
    env_.verbs.ack_async_event(&event);
  }
}

}  // namespace aqueduct::conduits::ibv
