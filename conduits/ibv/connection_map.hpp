#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ibv {

struct Connection;

/// Finds the connection of a queue pair by its number: a hash table with linear probing, at most half full.
class ConnectionMap {
 public:
  ConnectionMap() : entries_(16) {}

  void add(std::uint32_t pair, Connection& connection) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    insert({pair, &connection});
    ++count_;
  }
  void remove(std::uint32_t pair) noexcept {
    std::size_t at = pair & mask();
    while (entries_[at].connection != nullptr && entries_[at].pair != pair) at = (at + 1) & mask();
    if (entries_[at].connection == nullptr) return;
    entries_[at] = {};
    --count_;
    // Entries behind it may be there only because this entry was in use.
    for (at = (at + 1) & mask(); entries_[at].connection != nullptr; at = (at + 1) & mask()) {
      const Entry entry = entries_[at];
      entries_[at] = {};
      insert(entry);
    }
  }
  /// The connection that has the queue pair with this number; null if no connection has it.
  Connection* find(std::uint32_t pair) const noexcept {
    for (std::size_t at = pair & mask();; at = (at + 1) & mask()) {
      if (entries_[at].pair == pair || entries_[at].connection == nullptr) return entries_[at].connection;
    }
  }

 private:
  struct Entry {
    std::uint32_t pair = 0;
    Connection* connection = nullptr;
  };

  std::size_t mask() const noexcept { return entries_.size() - 1; }
  void insert(Entry entry) {
    std::size_t at = entry.pair & mask();
    while (entries_[at].connection != nullptr && entries_[at].pair != entry.pair) at = (at + 1) & mask();
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.connection != nullptr) insert(entry);
    }
  }

  std::vector<Entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace aqueduct::conduits::ibv
