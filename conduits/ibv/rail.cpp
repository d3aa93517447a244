#include "conduits/ibv/rail.hpp"

#include "conduits/ibv/queue_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

constexpr int kSegmentAccess = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

}  // namespace

Address address_of(const Port& port, const Objects& objects) {
  Address address;
  std::memcpy(address.gid.data(), port.gid.raw, address.gid.size());
  address.lid = port.attributes.lid;
  address.network = port.network();
  address.mtu = static_cast<std::uint8_t>(port.attributes.active_mtu);
  address.reads = objects.sizes.answers;
  return address;
}

// No large pages are asked for: the first port has already made the system allocate the segments' pages.
Rail::Rail(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options,
           std::uint64_t job, Rank ranks, Rank me, core::Log& log)
    : verbs_(verbs),
      port_(port),
      options_(options),
      me_(me),
      objects_(std::move(objects)),
      memory_(verbs, *objects_.domain, job, kSegmentAccess, IBV_ACCESS_LOCAL_WRITE, port.limits.max_mr_size,
              options.on_demand ? port.paging : Paging{}, false, me, log),
      cache_(options.keep_registered, options.pinned),
      addresses_(ranks, Address{.wire_version = 0}),
      peers_(ranks) {}

Address Rail::address() const { return address_of(port_, objects_); }

bool Rail::learn(Rank peer, const Address& address) {
  if (address.network != port_.network()) return false;
  addresses_[peer] = address;
  return true;
}

bool Rail::make(Rank peer) noexcept {
  if (peer == me_ || addresses_[peer].wire_version == 0) return true;
  errno = 0;
  peers_[peer].pair = make_pair(verbs_, objects_, port_, options_).pair;
  return peers_[peer].pair != nullptr;
}

int Rail::connect(Rank peer, std::uint32_t pair) noexcept {
  Peer& with = peers_[peer];
  if (with.pair == nullptr || pair == 0) {  // one side has no queue pair: this rail is not used
    drop(peer);
    return 0;
  }
  Hello hello;
  hello.pair = pair;
  hello.first = first_of(pair, peer);
  const int error = connect_pair(verbs_, *with.pair, objects_, port_, options_, addresses_[peer], hello,
                                 first_of(with.pair->qp_num, me_));
  with.connected = error == 0;
  return error;
}

void Rail::drop(Rank peer) noexcept { peers_[peer] = {}; }

Rank Rail::peer_of(std::uint32_t pair) const noexcept {
  const auto found = std::ranges::find_if(
      peers_, [&](const Peer& peer) { return peer.pair != nullptr && peer.pair->qp_num == pair; });
  return found != peers_.end() ? static_cast<Rank>(found - peers_.begin()) : kNoRank;
}

Registration* Rail::borrow(core::Bytes buffer, core::LocalUse use, int& error) noexcept {
  return cache_.borrow(buffer, use, error,
                       [this](core::MutableBytes memory, core::LocalUse of, int& why) noexcept {
                         return memory_.add_local(memory, of, why);
                       });
}

void Rail::invalidate(core::Bytes memory) noexcept { cache_.invalidate(memory); }

int Rail::post(Rank peer, ibv_send_wr& request) noexcept {
  request.send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  return ::ibv_post_send(peers_[peer].pair.get(), &request, &bad);
}

int Rail::poll(std::span<ibv_wc> ended) noexcept {
  return ::ibv_poll_cq(objects_.queue.get(), static_cast<int>(ended.size()), ended.data());
}

bool Rail::empty_channel() noexcept { return ibv::empty_channel(verbs_, *objects_.channel); }

}  // namespace aqueduct::conduits::ibv
