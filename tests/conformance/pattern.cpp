#include "tests/conformance/pattern.hpp"

#include <aqueduct/am.hpp>

#include <algorithm>
#include <cstring>

namespace aqueduct::conformance {

std::uint64_t mix(std::uint64_t value) noexcept {  // splitmix64
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::vector<std::byte> pattern(std::uint64_t writer, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  const std::uint64_t start = mix(writer);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix(start + at);
    std::memcpy(out.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return out;
}

testing::AssertionResult holds(std::span<const std::byte> found, std::span<const std::byte> expected) {
  if (found.size() != expected.size()) {
    return testing::AssertionFailure() << found.size() << " bytes instead of " << expected.size();
  }
  if (found.empty() || std::memcmp(found.data(), expected.data(), found.size()) == 0) {
    return testing::AssertionSuccess();
  }
  std::size_t first = found.size();
  std::size_t differing = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    first = std::min(first, i);
    ++differing;
  }
  return testing::AssertionFailure() << "byte " << first << " of " << found.size() << " is "
                                     << std::to_integer<int>(found[first]) << ", not "
                                     << std::to_integer<int>(expected[first]) << " (" << differing
                                     << " bytes differ)";
}

testing::AssertionResult all_are(std::span<const std::byte> found, std::byte value) {
  const auto other = std::ranges::find_if(found, [&](std::byte b) { return b != value; });
  if (other == found.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "byte " << other - found.begin() << " of " << found.size() << " is "
                                     << std::to_integer<int>(*other) << ", not "
                                     << std::to_integer<int>(value);
}

AmLimits least_limits(Endpoint& me) noexcept {
  AmLimits least = am_limits(me, me.rank());
  for (Rank rank = 0; rank < me.ranks(); ++rank) {
    const AmLimits one = am_limits(me, rank);
    least.arguments = std::min(least.arguments, one.arguments);
    least.medium = std::min(least.medium, one.medium);
    least.long_request = std::min(least.long_request, one.long_request);
    least.long_reply = std::min(least.long_reply, one.long_reply);
  }
  return least;
}

std::size_t reasonable(Endpoint& me, std::size_t bytes) {
  constexpr std::size_t kPackets = 50;  // chosen: more than any queue of the kit's fabrics holds per peer
  const std::size_t packet = least_limits(me).medium;
  return packet < 1024 / 2 ? std::min(bytes, kPackets * packet) : bytes;
}

std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> limits, std::size_t most) {
  std::vector<std::size_t> sizes = {0, 1, 2, 3, 5, 100, 1000};
  const auto around = [&](std::size_t limit) {
    if (limit > 0) sizes.push_back(limit - 1);
    sizes.push_back(limit);
    sizes.push_back(limit + 1);
  };
  for (std::size_t power = 8; power <= most; power *= power < 4096 ? 2 : 8) around(power);
  for (const std::size_t limit : limits) around(limit);
  std::erase_if(sizes, [&](std::size_t size) { return size > most; });
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace aqueduct::conformance
