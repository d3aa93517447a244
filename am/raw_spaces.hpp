#pragma once

#include <aqueduct/am_raw.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::detail {

/// A named space of raw handlers.
struct RawSpace {
  struct Entry {
    RawHandler run = nullptr;
    void* argument = nullptr;
    std::shared_ptr<void> held;  ///< keeps `argument` alive, if it is the library's
    RawAccepts accepts;
    /// Null: the handler runs under the lock. Otherwise it runs outside (am/parallel.hpp), and this counts its messages that
    /// are queued or running.
    std::unique_ptr<std::uint32_t> unfinished;
  };
  std::uint32_t number = 0;  ///< on the wire (am/wire.hpp)
  std::string name;
  std::array<Entry, 256> entries;
};

}  // namespace aqueduct::detail

namespace aqueduct::am {

using aqueduct::detail::RawSpace;

/// The raw handler spaces of an endpoint. Few programs have more than two, so they are searched one after the other.
class RawSpaces {
 public:
  /// Chosen: with this many, two of them have the same hash in one program of 4,000.
  static constexpr std::size_t kMost = 64;

  /// The number of a space on the wire. Every rank computes it from the name, so no message is needed.
  static std::uint32_t number_of(std::string_view name) noexcept;
  RawSpace* find(std::uint32_t number) noexcept {
    for (const auto& space : all_) {
      if (space->number == number) return space.get();
    }
    return nullptr;
  }
  std::size_t count() const noexcept { return all_.size(); }
  /// Adds an empty space. Throws std::bad_alloc.
  RawSpace& add(std::string_view name, std::uint32_t number);

 private:
  std::vector<std::unique_ptr<RawSpace>> all_;
};

}  // namespace aqueduct::am
