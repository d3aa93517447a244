#include "conduits/ibv/objects.hpp"

#include "conduits/ibv/errors.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: pieces of memory in one work request. More of them make every entry of a queue larger.
constexpr std::uint32_t kPieces = 8;
// siw's MAX_HDR_INLINE: it copies payloads of at most this length into the packet, and makes a mistake if they cross a
// page (docs/conduits/ibv.md).
constexpr std::uint32_t kGarbledBySiw = 32;
// siw's SIW_MAX_ORD_QP. A queue pair of siw that has as many reads under way as were asked for, and one more to begin, answers
// the peer's reads no more. If that holds at both ends, nothing moves any more. So on siw no more requests are under way than
// reads may be.
constexpr int kReadsOfSiw = 128;

// iWARP gets no shared receive queue: a message that finds no receive would end the connection, since adapters do not
// retry.
bool shares_receives(const Port& port, const IbvOptions& options) {
  return options.shared_receive_queue && !port.iwarp() && port.limits.max_srq > 0 &&
         port.limits.max_srq_wr > 0;
}

/// The wanted sizes, limited to what the device has.
Sizes sizes_of(const Port& port, const IbvOptions& options, Rank ranks) {
  const ibv_device_attr& limits = port.limits;
  const auto positive = [](int value) { return static_cast<std::uint32_t>(std::max(value, 1)); };
  Sizes sizes;
  const std::uint32_t datagrams = kDatagramReceives + kDatagramSends;
  const std::uint32_t completions = std::max(positive(limits.max_cqe), datagrams + 16) - datagrams;
  sizes.queue = std::min(options.queue, completions / 2);
  const std::uint64_t wanted = std::uint64_t{ranks} * options.credits;
  sizes.receives = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, completions - sizes.queue));
  if (shares_receives(port, options)) sizes.receives = std::min(sizes.receives, positive(limits.max_srq_wr));
  sizes.completions = sizes.queue + sizes.receives + datagrams;
  sizes.depth = std::min({options.depth, positive(limits.max_qp_wr), sizes.queue});
  sizes.pieces = std::min(kPieces, positive(limits.max_sge));
  sizes.reads = static_cast<std::uint8_t>(std::clamp(limits.max_qp_init_rd_atom, 1, 16));
  sizes.answers = static_cast<std::uint8_t>(std::clamp(limits.max_qp_rd_atom, 1, 16));
  sizes.atomics = limits.atomic_cap != IBV_ATOMIC_NONE;
  sizes.read_pieces = sizes.pieces;
  if (port.iwarp()) {
    sizes.atomics = sizes.immediate = sizes.confirms = sizes.in_order = sizes.read_anywhere = false;
    sizes.read_pieces = std::min(sizes.pieces, positive(limits.max_sge_rd));
    sizes.reads = static_cast<std::uint8_t>(std::clamp(limits.max_qp_init_rd_atom, 1, kReadsOfSiw));
    sizes.answers = static_cast<std::uint8_t>(std::clamp(limits.max_qp_rd_atom, 1, kReadsOfSiw));
    sizes.depth = std::min<std::uint32_t>(sizes.depth, kReadsOfSiw);
    sizes.garbled = kGarbledBySiw;  // on every iWARP device: the peer's may be siw
  }
  return sizes;
}

void never_block(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0) static_cast<void>(::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK));
}

}  // namespace

Result<Objects> open_objects(const Verbs& verbs, const Port& port, const IbvOptions& options, Rank ranks,
                             Rank me, core::Log& log) {
  Objects objects;
  objects.sizes = sizes_of(port, options, ranks);
  const auto refused = [&](const char* what, const char* advice) -> Status {
    const int error = errno;
    const bool failed = error == ENODEV || error == EIO;  // the device has failed, whatever was asked for
    log.error("ibv: rank {}: {} does not give {}: {}. {}", me, port.device, what, std::strerror(error),
              failed ? advice_for_errno(error) : advice);
    return code_of_errno(error);
  };
  constexpr const char* kMemory =
      "Queues are locked memory: `ulimit -l unlimited` before the job starts (or memlock in "
      "/etc/security/limits.conf)";

  objects.context = open_by_name(verbs, port.device);
  if (objects.context == nullptr) return refused("a context", "Who may open it: ls -l /dev/infiniband");
  never_block(objects.context->async_fd);
  objects.domain = {verbs.alloc_pd(objects.context.get()), {verbs.dealloc_pd}};
  if (objects.domain == nullptr) return refused("a protection domain", "Fewer ranks on this host may help");
  objects.channel = {verbs.create_comp_channel(objects.context.get()), {verbs.destroy_comp_channel}};
  if (objects.channel == nullptr) return refused("a completion channel", "Allow more open files: ulimit -n");
  never_block(objects.channel->fd);
  const auto entries = static_cast<int>(objects.sizes.completions);
  objects.queue = {verbs.create_cq(objects.context.get(), entries, nullptr, objects.channel.get(), 0),
                   {verbs.destroy_cq}};
  if (objects.queue == nullptr) return refused("a completion queue", kMemory);
  if (shares_receives(port, options)) {
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = objects.sizes.receives;
    wanted.attr.max_sge = 1;
    objects.receives = {verbs.create_srq(objects.domain.get(), &wanted), {verbs.destroy_srq}};
    if (objects.receives == nullptr) {
      log.debug("ibv: rank {}: {} has no shared receive queue ({}); each peer gets its own", me, port.device,
                std::strerror(errno));
    }
  }
  return objects;
}

bool empty_channel(const Verbs& verbs, ibv_comp_channel& channel) noexcept {
  ibv_cq* queue = nullptr;
  void* cookie = nullptr;
  bool said = false;
  while (verbs.get_cq_event(&channel, &queue, &cookie) == 0) {
    verbs.ack_cq_events(queue, 1);
    said = true;
  }
  return said;
}

}  // namespace aqueduct::conduits::ibv
