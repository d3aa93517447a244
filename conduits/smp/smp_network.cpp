#include "conduits/smp/smp_network.hpp"

#include "conduits/smp/sleep.hpp"
#include "conduits/smp/smp_conduit.hpp"

#include <algorithm>

namespace aqueduct::conduits::smp {

SmpNetwork::SmpNetwork(const core::Process& process)
    : process_(process),
      local_of_(process.ranks),
      mark_(process_mark()),
      has_membarrier_(register_membarrier()),
      mine_(process_) {
  if (SharedMemory::falls_back(*process_.config)) {
    process_.log->warn(
        "there is no /proc here, through which others would open memory without a name: files in {} serve, "
        "as with "
        "AQUEDUCT_SMP_MEMORY=posix",
        process_.config->text("smp_directory"));
  }
  const std::uint32_t host = process.host[process.mine.front()];
  for (Rank rank = 0; rank < process.ranks; ++rank) {
    if (process.host[rank] == host) local_ranks_.push_back(rank);
  }
  std::fill(local_of_.begin(), local_of_.end(), static_cast<std::uint32_t>(local_ranks_.size()));
  for (std::uint32_t local = 0; local < local_ranks_.size(); ++local) local_of_[local_ranks_[local]] = local;
}

Result<std::unique_ptr<core::Conduit>> SmpNetwork::open(Rank me) {
  if (me == local_ranks_.front()) {
    if (auto made = make_arena(); !made) return made.status();
  }
  return std::unique_ptr<core::Conduit>(std::make_unique<SmpConduit>(*this, me));
}

bool SmpNetwork::in_this_process(Rank rank) const noexcept {
  return std::binary_search(process_.mine.begin(), process_.mine.end(), rank);
}

// Called before this process makes its first file. Removes leftovers of other jobs, and makes the AliveFile that
// protects this process's files. Requires: the mutex is held.
Status SmpNetwork::prepare_for_files() {
  const bool makes_files =
      process_.config->text("smp_memory") == "posix" || SharedMemory::falls_back(*process_.config);
  if (alive_ || !makes_files) return {};
  const std::string directory = process_.config->text("smp_directory");
  if (directory.empty()) {  // names would be in the root of all folders
    process_.log->error("AQUEDUCT_SMP_DIRECTORY is empty: unset it, or name a tmpfs such as /dev/shm");
    return ErrorCode::bad_setting;
  }
  if (process_.mine.front() == local_ranks_.front()) sweep_leftovers(directory, *process_.log);
  auto alive = AliveFile::create(directory, process_.job, process_.mine.front(), *process_.log);
  if (!alive) return alive.status();
  alive_.emplace(std::move(*alive));
  return {};
}

Result<Arena*> SmpNetwork::make_arena() {
  const std::lock_guard lock(mutex_);
  if (const Status status = prepare_for_files(); !status) return status;
  auto made = Arena::create(process_, static_cast<std::uint32_t>(local_ranks_.size()));
  if (!made) return made.status();
  arena_ = std::move(*made);
  return arena_.get();
}

Result<Arena*> SmpNetwork::arena(std::span<const std::byte> key) {
  const std::lock_guard lock(mutex_);
  if (arena_ == nullptr) {
    auto attached = Arena::attach(process_, key, static_cast<std::uint32_t>(local_ranks_.size()));
    if (!attached) return attached.status();
    arena_ = std::move(*attached);
  }
  return arena_.get();
}

Result<std::span<std::byte>> SmpNetwork::allocate(Rank owner, std::uint32_t number, std::size_t bytes,
                                                  std::vector<std::byte>& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const Status status = prepare_for_files(); !status) return status;
  }
  return mine_.take("segment-" + std::to_string(number) + "-" + std::to_string(owner), bytes, key);
}

void SmpNetwork::release(std::span<std::byte> memory) noexcept { mine_.give(memory); }

// Memory that cannot be mapped is reached in slower ways. The warning appears once, because the reason is mostly the
// same for all segments.
Result<std::byte*> SmpNetwork::map(Rank peer, std::span<const std::byte> key) {
  const std::size_t offset = offset_in_object(key);
  const std::lock_guard lock(mutex_);
  std::vector<std::byte> name(key.begin(), key.end());
  if (auto found = theirs_.find(name); found != theirs_.end()) {
    ++found->second.users;
    return found->second.memory.data() + offset;
  }
  std::string why;
  auto memory = SharedMemory::open(key, why);
  if (!memory) {
    if (!why.empty()) {
      constexpr const char* kText =
          "memory of rank {} cannot be mapped: {}. Transfers with what cannot be mapped go by cross-memory "
          "calls "
          "or messages, which is slower; a rank that waits by atomics on its own memory has to call progress "
          "then";
      if (said_) process_.log->debug(kText, peer, why);
      if (!said_) process_.log->warn(kText, peer, why);
      said_ = true;
    }
    return memory.status();
  }
  memory->drop_descriptor();
  return theirs_.emplace(std::move(name), Mapped{std::move(*memory), 1}).first->second.memory.data() + offset;
}

void SmpNetwork::unmap(const std::byte* at) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(theirs_, [at](const auto& one) {
    const SharedMemory& memory = one.second.memory;
    return at >= memory.data() && at < memory.data() + memory.bytes();
  });
  if (found != theirs_.end() && --found->second.users == 0) theirs_.erase(found);
}

}  // namespace aqueduct::conduits::smp
