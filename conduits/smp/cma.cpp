#include "conduits/smp/cma.hpp"

#include "conduits/smp/smp_network.hpp"

#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// The calls may move less than asked for; they go on where they stopped.
core::Post move(Call call, int pid, std::uint64_t remote, std::byte* local, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes;) {
    const iovec here{local + at, bytes - at};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): in this process the other's address is no pointer
    const iovec there{reinterpret_cast<void*>(remote + at), bytes - at};
    const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) {
      if (moved < 0 && errno == EINTR) continue;
      return core::Post::failed(moved < 0 && errno == ESRCH ? ErrorCode::peer_lost
                                                            : ErrorCode::network_failed);
    }
    at += static_cast<std::size_t>(moved);
  }
  return core::Post::done();
}

}  // namespace

Cma::Cma(SmpNetwork& network, Attachments& attachments)
    : network_(network), attachments_(attachments), wanted_(network.process().config->flag("smp_cma")) {}

Result<std::vector<std::byte>> Cma::register_segment(SegmentId, core::MutableBytes memory) {
  if (!wanted_ || memory.empty()) return ErrorCode::not_supported;
  const Remote remote{::getpid(), reinterpret_cast<std::uint64_t>(memory.data())};
  const auto* bytes = reinterpret_cast<const std::byte*>(&remote);
  return std::vector<std::byte>(bytes, bytes + sizeof remote);
}

Result<std::uint64_t> Cma::import_key(Rank peer, core::Bytes key) {
  Remote remote;
  if (!wanted_ || key.size() != sizeof remote) return ErrorCode::not_supported;
  std::memcpy(&remote, key.data(), sizeof remote);
  std::byte first;
  const core::Post probe = move(::process_vm_readv, remote.pid, remote.address, &first, 1);
  if (probe.kind == core::Post::Kind::failed) {
    if (probe.why == ErrorCode::peer_lost) return {ErrorCode::peer_lost, peer};
    if (!said_) {
      network_.process().log->info(
          "cross-memory calls are not allowed here ({}); transfers with memory that cannot be mapped go by "
          "messages. "
          "Containers allow them with CAP_SYS_PTRACE or seccomp=unconfined",
          std::strerror(errno));
    }
    said_ = true;
    return ErrorCode::not_supported;
  }
  remotes_.push_back(remote);
  return remotes_.size();
}

core::Post Cma::put(Rank, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool,
                    core::Token) noexcept {
  const Remote& remote = remotes_[key - 1];
  return move(::process_vm_writev, remote.pid, remote.address + offset, const_cast<std::byte*>(from.data()),
              from.size());
}

core::Post Cma::get(Rank, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                    core::Token) noexcept {
  const Remote& remote = remotes_[key - 1];
  return move(::process_vm_readv, remote.pid, remote.address + offset, to.data(), to.size());
}

}  // namespace aqueduct::conduits::smp
