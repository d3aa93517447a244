#include "conduits/ibv/rails.hpp"

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/striped_transfers.hpp"
#include "core/descriptors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/epoll.h>
#include <unistd.h>

namespace aqueduct::conduits::ibv {
namespace {

bool watch(int descriptor, int channel) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(descriptor, EPOLL_CTL_ADD, channel, &event) == 0;
}

}  // namespace

Rails::~Rails() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status Rails::open(std::span<const Port> ports) {
  if (ports.empty()) return {};
  IbvOptions narrow = env_.options;
  narrow.queue = narrow.depth = StripedTransfers::kMost;
  narrow.inline_bytes = 0;
  narrow.credits = 1;  // no receive is posted, but some devices refuse a queue of length 0
  narrow.shared_receive_queue = false;
  for (const Port& port : ports.first(std::min(ports.size(), kMostRails - 1))) {
    auto objects = open_objects(env_.verbs, port, narrow, 1, env_.me, env_.log);
    if (!objects) return objects.status();
    rails_.push_back(std::make_unique<Rail>(env_.verbs, port, std::move(*objects), narrow, env_.job,
                                            env_.ranks, env_.me, env_.log));
  }
  descriptor_ = core::above_standard(::epoll_create1(EPOLL_CLOEXEC));
  bool watches = descriptor_ >= 0 && watch(descriptor_, env_.objects.channel->fd);
  for (const auto& rail : rails_) watches = watches && watch(descriptor_, rail->objects().channel->fd);
  if (watches) return {};
  env_.log.error(
      "ibv: rank {}: the system gives no descriptor for the completions of several ports: {}. Allow more: "
      "ulimit -n",
      env_.me, std::strerror(errno));
  return code_of_errno(errno);
}

// A peer without a queue pair on a rail is reached by the other ports.
void Rails::make(Rank peer) noexcept {
  for (const auto& rail : rails_) {
    if (rail->make(peer)) continue;
    env_.log.warn(
        "ibv: rank {}: {} gives no queue pair for rank {}: {}. Large transfers with it go by other ports",
        env_.me, rail->port().device, peer, std::strerror(errno));
  }
}

// The peer may still use the rail. It learns of the failure when its first share fails.
void Rails::connect(Rank peer, const Hello& hello) noexcept {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const int error = rails_[i]->connect(peer, hello.rails[i]);
    if (error == 0) continue;
    const Port& port = rails_[i]->port();
    env_.log.warn(
        "ibv: rank {}: {}:{} does not connect a queue pair with rank {}: {}. Large transfers with it go by "
        "other ports. Are the ports of both hosts cabled in the same order? AQUEDUCT_IBV_DEVICE names them "
        "in "
        "any order, AQUEDUCT_IBV_RAILS=1 takes one only",
        env_.me, port.device, port.number, peer, std::strerror(error));
    rails_[i]->drop(peer);
  }
}

void Rails::add_segment(SegmentId id, core::MutableBytes memory, std::vector<std::byte>& key) {
  for (const auto& rail : rails_) {
    Key there;  // key 0: this rail cannot reach the segment, and the first port serves it
    if (const auto blob = rail->memory().add_segment(id, memory)) {
      std::memcpy(&there, blob->data(), sizeof there);
    }
    const auto bytes = std::as_bytes(std::span(&there.key, 1));
    key.insert(key.end(), bytes.begin(), bytes.end());
  }
}

void Rails::remove_segment(SegmentId id) noexcept {
  for (const auto& rail : rails_) {
    rail->invalidate(rail->memory().segment(id));
    rail->memory().remove_segment(id);
  }
}

void Rails::invalidate(core::Bytes memory) noexcept {
  for (const auto& rail : rails_) rail->invalidate(memory);
}

void Rails::import(std::uint64_t handle, core::Bytes key) {
  if (empty()) return;
  keys_.resize(std::max<std::size_t>(keys_.size(), handle + 1));
  keys_[handle] = {};  // the handle may have been another segment's
  std::memcpy(keys_[handle].data(), key.data(), std::min(key.size(), sizeof keys_[handle]));
}

std::size_t first_part_of(core::Bytes key) noexcept {
  const bool has_more = key.size() > sizeof(Key) && (key.size() - sizeof(Key)) % sizeof(std::uint32_t) == 0;
  return has_more ? sizeof(Key) : key.size();
}

}  // namespace aqueduct::conduits::ibv
