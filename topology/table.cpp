#include "topology/table.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

namespace aqueduct::topology {
namespace {

constexpr std::uint32_t kMark = 0x41715470;  // "AqTp"
constexpr std::size_t kNameWords = 8;        // of 31 characters at the most
constexpr std::size_t kLevelWords = 2 + kNameWords;
constexpr std::size_t kHeadWords = 3;
constexpr std::uint32_t kMostLevels = 64;

/// Numbers pairs in the order in which they come.
class Numbers {
 public:
  std::uint32_t of(std::pair<std::uint32_t, std::uint32_t> pair) {
    return known_.try_emplace(pair, static_cast<std::uint32_t>(known_.size())).first->second;
  }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(known_.size()); }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace

Table Table::of(CpuSet cpus, std::span<const Found> levels) {
  Table table;
  table.cpus_ = std::move(cpus);
  table.levels_.push_back({"host", 1, false});
  table.domain_.assign(table.cpus_.size(), 0);
  // Wider levels first. The usual order of names is not that of all machines: some share a last cache among several NUMA
  // nodes, others have several in each.
  std::vector<std::pair<std::uint32_t, const Found*>> order;
  for (const Found& found : levels) {
    Numbers numbers;
    for (const std::uint32_t domain : found.domain) numbers.of({domain, 0});
    if (found.domain.size() == table.cpus_.size()) order.emplace_back(numbers.count(), &found);
  }
  std::ranges::stable_sort(order, {}, &decltype(order)::value_type::first);
  for (const auto& [count, found] : order) table.add(*found);
  return table;
}

void Table::add(const Found& found) {
  const std::size_t count = cpus_.size();
  const std::size_t before = levels_.size() - 1;
  // A domain with the one of the level before it: if the new level cut that one's domains, it would have fewer.
  Numbers domains;
  Numbers alone;
  std::vector<std::uint32_t> domain(count);
  for (std::size_t i = 0; i < count; ++i) {
    domain[i] = domains.of({at(before, i), found.domain[i]});
    if (found.domain[i] != kNowhere) alone.of({found.domain[i], 0});
  }
  if (count == 0 || alone.count() == 0) return;
  const bool whole = std::ranges::none_of(found.domain, [](std::uint32_t one) { return one == kNowhere; });
  if (whole && domains.count() != alone.count()) return;  // its domains lie across those of the level before
  Level& last = levels_[before];
  if (domains.count() == last.domains) {  // the same domains under another name
    if (before != 0) last.name += '+' + std::string(found.name);
    last.memory = last.memory || (before != 0 && found.memory);
    return;
  }
  levels_.push_back({std::string(found.name), domains.count(), found.memory});
  domain_.insert(domain_.end(), domain.begin(), domain.end());
}

std::uint32_t Table::domain_of(std::size_t level, const CpuSet& place) const noexcept {
  if (level == 0) return 0;
  if (level >= levels_.size() || place.empty()) return kNowhere;
  std::uint32_t common = kNowhere;
  for (const std::uint32_t cpu : place) {
    const auto found = std::ranges::lower_bound(cpus_, cpu);
    if (found == cpus_.end() || *found != cpu) return kNowhere;
    const std::uint32_t domain = at(level, static_cast<std::size_t>(found - cpus_.begin()));
    if (common != kNowhere && domain != common) return kNowhere;
    common = domain;
  }
  return common;
}

std::vector<std::uint32_t> Table::words() const {
  std::vector<std::uint32_t> words{kMark, static_cast<std::uint32_t>(levels_.size()),
                                   static_cast<std::uint32_t>(cpus_.size())};
  for (const Level& level : levels_) {
    words.push_back(level.domains);
    words.push_back(level.memory ? 1 : 0);
    std::uint32_t name[kNameWords] = {};
    std::memcpy(name, level.name.data(), std::min(level.name.size(), sizeof name - 1));
    words.insert(words.end(), std::begin(name), std::end(name));
  }
  words.insert(words.end(), cpus_.begin(), cpus_.end());
  words.insert(words.end(), domain_.begin(), domain_.end());
  return words;
}

bool Table::read(std::span<const std::uint32_t> words) {
  if (words.size() < kHeadWords || words[0] != kMark) return false;
  const std::uint32_t levels = words[1];
  const std::uint32_t cpus = words[2];
  if (levels == 0 || levels > kMostLevels || cpus > kMostCpus) return false;
  const std::size_t cells = std::size_t{levels} * cpus;
  if (words.size() < kHeadWords + levels * kLevelWords + cpus + cells) return false;
  Table table;
  const std::uint32_t* at = words.data() + kHeadWords;
  for (std::uint32_t i = 0; i < levels; ++i, at += kLevelWords) {
    char name[kNameWords * sizeof(std::uint32_t)];
    std::memcpy(name, at + 2, sizeof name);
    name[sizeof name - 1] = '\0';
    table.levels_.push_back({name, at[0], at[1] != 0});
  }
  table.cpus_.assign(at, at + cpus);
  table.domain_.assign(at + cpus, at + cpus + cells);
  if (std::ranges::adjacent_find(table.cpus_, std::greater_equal<>()) != table.cpus_.end()) return false;
  for (std::uint32_t level = 0; level < levels; ++level) {
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
      if (table.at(level, cpu) >= table.levels_[level].domains) return false;
    }
  }
  *this = std::move(table);
  return true;
}

}  // namespace aqueduct::topology
