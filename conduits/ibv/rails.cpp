#include "conduits/ibv/rails.hpp"

#include "conduits/ibv/deals.hpp"
#include "conduits/ibv/errors.hpp"
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

Status Rails::open(const Verbs& verbs, std::span<const Port> ports, const IbvOptions& options,
                   std::uint64_t job, Rank ranks, Rank me, core::Log& log, int first) {
  if (ports.empty()) return {};
  IbvOptions narrow = options;
  narrow.queue = narrow.depth = Deals::kMost;
  narrow.inline_bytes = 0;
  narrow.credits = 1;  // no receive is posted, but not every device makes a queue of none
  narrow.shared_receive_queue = false;
  for (const Port& port : ports.first(std::min(ports.size(), kMostRails - 1))) {
    auto objects = open_objects(verbs, port, narrow, 1, me, log);
    if (!objects) return objects.status();
    rails_.push_back(std::make_unique<Rail>(verbs, port, std::move(*objects), narrow, job, ranks, me, log));
  }
  descriptor_ = core::above_standard(::epoll_create1(EPOLL_CLOEXEC));
  bool watches = descriptor_ >= 0 && watch(descriptor_, first);
  for (const auto& rail : rails_) watches = watches && watch(descriptor_, rail->objects().channel->fd);
  if (watches) return {};
  log.error(
      "ibv: rank {}: the system gives no descriptor for the completions of several ports: {}. Allow more: "
      "ulimit -n",
      me, std::strerror(errno));
  return code_of_errno(errno);
}

void Rails::add_segment(SegmentId id, core::MutableBytes memory, std::vector<std::byte>& key) {
  for (const auto& rail : rails_) {
    Key there;  // without a key: of no use, and the first port serves the segment
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
