#include "conduits/smp/cma.hpp"

#include "conduits/smp/smp_network.hpp"

#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// A call may transfer only a part; then the next one continues behind it.
core::Post move(Call call, int pid, std::uint64_t remote, std::byte* local, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes;) {
    const iovec here{local + at, bytes - at};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process, not a pointer here
    const iovec there{reinterpret_cast<void*>(remote + at), bytes - at};
    const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
    if (moved <= 0) {
      if (moved < 0 && errno == EINTR) continue;
      if (moved == 0) errno = EFAULT;
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
  return key_from(reinterpret_cast<std::uint64_t>(memory.data()));
}

std::vector<std::byte> Cma::key_of_process() const {
  return wanted_ ? key_from(0) : std::vector<std::byte>();
}

std::vector<std::byte> Cma::key_from(std::uint64_t address) const {
  const Key key{::getpid(), address, reinterpret_cast<std::uint64_t>(&network_.mark()), network_.mark()};
  const auto* bytes = reinterpret_cast<const std::byte*>(&key);
  return {bytes, bytes + sizeof key};
}

// Checks that the process is still the peer. Errors: peer_lost (it has ended, or another process has its pid),
// network_failed.
Status Cma::look_at(Remote& remote) noexcept {
  const auto now = core::kSystemClock.now();  // see kTrust
  if (now - remote.seen < kTrust) return {};
  std::uint64_t mark = 0;
  const core::Post read = move(::process_vm_readv, static_cast<int>(remote.key.pid), remote.key.mark_at,
                               reinterpret_cast<std::byte*>(&mark), sizeof mark);
  if (read.kind == core::Post::Kind::failed) {
    // Nothing is mapped at the mark's address, or the call was allowed before and no longer is. The peer, if alive,
    // would have its mark there. So this is another process, perhaps of another user.
    const bool allowed_before = remote.seen != core::Clock::time_point();
    return errno == EFAULT || (errno == EPERM && allowed_before) ? ErrorCode::peer_lost : read.why;
  }
  if (mark != remote.key.mark) return ErrorCode::peer_lost;
  remote.seen = now;
  return {};
}

Result<std::uint64_t> Cma::import_key(Rank peer, core::Bytes key) {
  Remote remote{};
  if (!wanted_ || key.size() != sizeof remote.key) return ErrorCode::not_supported;
  std::memcpy(&remote.key, key.data(), sizeof remote.key);
  if (const Status there = look_at(remote); !there) {
    if (there.code() == ErrorCode::peer_lost) return {ErrorCode::peer_lost, peer};
    if (!said_) {
      network_.process().log->info(
          "cross-memory calls are not allowed here ({}); transfers with memory that cannot be mapped go by "
          "messages, and collectives through memory that is. "
          "Containers allow them with CAP_SYS_PTRACE or seccomp=unconfined",
          std::strerror(errno));
    }
    said_ = true;
    return ErrorCode::not_supported;
  }
  return remotes_.add(remote);
}

template <class Move>
core::Post Cma::checked(Rank peer, std::uint64_t key, const Move& move) noexcept {
  Remote& remote = remotes_[key];
  const Status there = look_at(remote);
  if (!there) {
    network_.process().log->debug("smp: process {} is not rank {} any more", remote.key.pid, peer);
    return core::Post::failed(there.code());
  }
  return move(static_cast<int>(remote.key.pid), remote.key.address);
}

core::Post Cma::put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool,
                    core::Token) noexcept {
  return checked(peer, key, [&](int pid, std::uint64_t address) {
    return move(::process_vm_writev, pid, address + offset, const_cast<std::byte*>(from.data()), from.size());
  });
}

core::Post Cma::get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
                    core::Token) noexcept {
  return checked(peer, key, [&](int pid, std::uint64_t address) {
    return move(::process_vm_readv, pid, address + offset, to.data(), to.size());
  });
}

}  // namespace aqueduct::conduits::smp
