#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ibv {

struct Link;

/// Finds the link of a queue pair by its number: a hash table with linear probing, at most half full.
class LinkMap {
 public:
  LinkMap() : places_(16) {}

  void add(std::uint32_t pair, Link& link) {
    if (2 * (count_ + 1) > places_.size()) grow();
    insert({pair, &link});
    ++count_;
  }
  void remove(std::uint32_t pair) noexcept {
    std::size_t at = pair & mask();
    while (places_[at].link != nullptr && places_[at].pair != pair) at = (at + 1) & mask();
    if (places_[at].link == nullptr) return;
    places_[at] = {};
    --count_;
    // Entries behind it may be there only because this place was taken.
    for (at = (at + 1) & mask(); places_[at].link != nullptr; at = (at + 1) & mask()) {
      const Place place = places_[at];
      places_[at] = {};
      insert(place);
    }
  }
  /// Null if there is none.
  Link* find(std::uint32_t pair) const noexcept {
    for (std::size_t at = pair & mask();; at = (at + 1) & mask()) {
      if (places_[at].pair == pair || places_[at].link == nullptr) return places_[at].link;
    }
  }

 private:
  struct Place {
    std::uint32_t pair = 0;
    Link* link = nullptr;
  };

  std::size_t mask() const noexcept { return places_.size() - 1; }
  void insert(Place place) {
    std::size_t at = place.pair & mask();
    while (places_[at].link != nullptr && places_[at].pair != place.pair) at = (at + 1) & mask();
    places_[at] = place;
  }
  void grow() {
    std::vector<Place> old(2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.link != nullptr) insert(place);
    }
  }

  std::vector<Place> places_;
  std::size_t count_ = 0;
};

}  // namespace aqueduct::conduits::ibv
