#include "tools/aqperf/raw/raw_transfer.hpp"

namespace aqueduct::perf {

namespace {

std::function<void(std::uint64_t)> through_pointer(std::byte* theirs, std::byte* mine, Direction direction,
                                                   std::size_t bytes) {
  auto* word = reinterpret_cast<std::uint64_t*>(theirs);
  if (bytes == sizeof(*word)) {
    if (direction == Direction::get) {
      return [word](std::uint64_t turns) { repeat(turns, [word] { use(raw_load(word)); }); };
    }
    return [word](std::uint64_t turns) {
      repeat(turns, [word, value = unknown(turns)] { raw_store(word, value); });
    };
  }
  std::byte* const to = direction == Direction::put ? theirs : mine;
  std::byte* const from = direction == Direction::put ? mine : theirs;
  return [=](std::uint64_t turns) {
    repeat(turns, [to, from, size = unknown(bytes)] { raw_copy(to, from, size); });
  };
}

}  // namespace

Raw raw_transfer(Session& session, Role role, Direction direction, std::size_t bytes) {
  const auto mine = session.buffer().first(bytes);
  std::byte* theirs = nullptr;
  if (role.active) theirs = session.ep().local(session.target(role.peer), bytes);
  if (session.everyone(!role.active || theirs != nullptr)) {
    Subject subject{[](std::uint64_t) {}, role.active};
    if (role.active) subject.run = through_pointer(theirs, mine.data(), direction, bytes);
    const char* const word = direction == Direction::put ? "a plain store" : "a plain load";
    return {std::move(subject), bytes == 8 ? word : "memcpy between the same pages"};
  }
  auto memory = std::make_shared<CrossMemory>(session, role.active ? role.peer : kNoRank);
  if (!memory->usable()) return {std::nullopt, "none: neither mapped here nor allowed by process_vm_*"};
  Subject subject{[memory, mine, direction, active = role.active](std::uint64_t turns) {
                    if (!active) return;
                    repeat(turns, [&] {
                      const bool done =
                          direction == Direction::put ? memory->write(mine) : memory->read(mine);
                      if (!done) throw Failure("--vs raw: process_vm_readv or process_vm_writev failed", 1);
                    });
                  },
                  role.active};
  return {std::move(subject), direction == Direction::put ? "process_vm_writev" : "process_vm_readv"};
}

}  // namespace aqueduct::perf
