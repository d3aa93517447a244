#include "topology/caches.hpp"

#include "topology/cpu_set.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>

namespace aqueduct::topology {
namespace {

constexpr std::uint64_t kKibi = 1024;

/// The fields of a word, from the lowest bit: KiB of the first, second and last cache, processors, and a 1.
constexpr int kFirstBits = 10;
constexpr int kSecondBits = 20;
constexpr int kLastBits = 22;
constexpr int kSharingBits = 11;
static_assert(kFirstBits + kSecondBits + kLastBits + kSharingBits == 63);

constexpr std::uint64_t most_of(int bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "48K", "1024K", "32M"; 0 if it is something else.
std::uint64_t bytes_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number > most_of(40)) return 0;
  if (rest == end) return number;
  return *rest == 'K' ? number * kKibi : *rest == 'M' ? number * kKibi * kKibi : 0;
}

}  // namespace

Caches read_system_caches(const std::string& folder) {
  Caches out;
  int last_level = 0;
  for (int i = 0;; ++i) {
    const std::string index = folder + "/index" + std::to_string(i) + "/";
    const std::string level_text = line_of(index + "level");
    if (level_text.empty()) return out;
    int level = 0;
    std::from_chars(level_text.data(), level_text.data() + level_text.size(), level);
    const std::uint64_t bytes = bytes_in(line_of(index + "size"));
    if (bytes == 0 || line_of(index + "type") == "Instruction") continue;
    if (level == 1) out.first = bytes;
    if (level == 2) out.second = bytes;
    if (level < 2 || level < last_level) continue;
    last_level = level;
    out.last = bytes;
    const std::size_t sharing = read_set(line_of(index + "shared_cpu_list")).size();
    out.sharing = static_cast<std::uint32_t>(std::max<std::size_t>(sharing, 1));
  }
}

std::uint64_t word_of(const Caches& caches) noexcept {
  const auto kibi = [](std::uint64_t bytes, int bits) { return std::min(bytes / kKibi, most_of(bits)); };
  std::uint64_t word = 1;
  word = word << kSharingBits | std::min<std::uint64_t>(caches.sharing, most_of(kSharingBits));
  word = word << kLastBits | kibi(caches.last, kLastBits);
  word = word << kSecondBits | kibi(caches.second, kSecondBits);
  return word << kFirstBits | kibi(caches.first, kFirstBits);
}

Caches caches_of(std::uint64_t word) noexcept {
  const auto take = [&](int bits) {
    const std::uint64_t field = word & most_of(bits);
    word >>= bits;
    return field;
  };
  Caches out;
  out.first = take(kFirstBits) * kKibi;
  out.second = take(kSecondBits) * kKibi;
  out.last = take(kLastBits) * kKibi;
  out.sharing = static_cast<std::uint32_t>(take(kSharingBits));
  return out;
}

Caches agreed_caches(std::byte* word, const std::function<Caches()>& read) {
  if (word == nullptr) return caches_of(word_of(read()));
  const std::atomic_ref<std::uint64_t> agreed(*reinterpret_cast<std::uint64_t*>(word));
  // The word is all that is told, so no order with other memory is needed.
  std::uint64_t found = agreed.load(std::memory_order_relaxed);
  if (found == 0) {
    const std::uint64_t mine = word_of(read());
    if (agreed.compare_exchange_strong(found, mine, std::memory_order_relaxed)) found = mine;
  }
  return caches_of(found);
}

}  // namespace aqueduct::topology
