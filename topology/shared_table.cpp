#include "topology/shared_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <sched.h>

namespace aqueduct::topology {
namespace {

/// Which rank uses the memory now. One rank writes, by turning `untouched` into `being_read`; what it stores with release is
/// what the others read after an acquire.
enum State : std::uint32_t { untouched, being_read, table_written, problem_written, does_not_fit };

struct Head {
  std::uint32_t state;
  std::uint32_t bytes;
};

// Chosen: some tenths of a second at the least. The reader needs milliseconds, and gets the core when others yield.
constexpr int kMostLooks = 300'000;

std::uint32_t state_after_reader(std::atomic_ref<std::uint32_t> state) {
  for (int looks = 0; looks < kMostLooks; ++looks) {
    if (const std::uint32_t now = state.load(std::memory_order_acquire); now != being_read) return now;
    ::sched_yield();
  }
  return being_read;
}

/// Copies what the reader has written. False if it is damaged.
bool copy(const std::byte* memory, std::size_t room, std::uint32_t state, Reading& out) {
  const std::size_t bytes = reinterpret_cast<const Head*>(memory)->bytes;
  if (bytes > room) return false;
  const std::byte* const from = memory + sizeof(Head);
  if (state == problem_written) {
    out.problem.assign(reinterpret_cast<const char*>(from), bytes);
    return true;
  }
  std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
  std::memcpy(words.data(), from, words.size() * sizeof(std::uint32_t));
  return out.table.read(words);
}

State write(std::byte* memory, std::size_t room, const Reading& reading) {
  const std::vector<std::uint32_t> words = reading.table.words();
  const bool failed = !reading.problem.empty();
  const std::size_t bytes =
      failed ? std::min(reading.problem.size(), room) : words.size() * sizeof(std::uint32_t);
  if (bytes > room) return does_not_fit;
  std::memcpy(memory + sizeof(Head), failed ? static_cast<const void*>(reading.problem.data()) : words.data(),
              bytes);
  reinterpret_cast<Head*>(memory)->bytes = static_cast<std::uint32_t>(bytes);
  return failed ? problem_written : table_written;
}

}  // namespace

Reading read_shared(std::byte* memory, std::size_t bytes, const std::function<Reading()>& read) {
  if (memory == nullptr || bytes <= sizeof(Head)) return read();
  const std::size_t room = bytes - sizeof(Head);
  const std::atomic_ref<std::uint32_t> state(reinterpret_cast<Head*>(memory)->state);
  std::uint32_t seen = untouched;
  if (state.compare_exchange_strong(seen, being_read, std::memory_order_acquire)) {
    Reading reading;
    try {
      reading = read();
      state.store(write(memory, room, reading), std::memory_order_release);
    } catch (...) {
      state.store(does_not_fit, std::memory_order_release);  // the others try for themselves
      throw;
    }
    return reading;
  }
  seen = state_after_reader(state);
  Reading reading;
  if ((seen == table_written || seen == problem_written) && copy(memory, room, seen, reading)) return reading;
  return read();
}

}  // namespace aqueduct::topology
