#include "tools/aqperf/raw/raw_cma.hpp"

#include <sys/uio.h>
#include <unistd.h>

namespace aqueduct::perf {

namespace {

struct RankMemory {
  pid_t process;
  std::byte* memory;
};

}  // namespace

CrossMemory::CrossMemory(Session& session, Rank peer) {
  const auto places = session.exchange(RankMemory{getpid(), session.mine().data()});
  if (peer != kNoRank) {
    process_ = places[peer].process;
    place_ = places[peer].memory;
  }
  usable_ = session.everyone(peer == kNoRank || read(session.buffer().first(1)));
}

bool CrossMemory::write(std::span<const std::byte> from) const noexcept {
  const iovec here{const_cast<std::byte*>(from.data()), from.size()}, there{place_, from.size()};
  return process_vm_writev(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(from.size());
}

bool CrossMemory::read(std::span<std::byte> to) const noexcept {
  const iovec here{to.data(), to.size()}, there{place_, to.size()};
  return process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(to.size());
}

}  // namespace aqueduct::perf
