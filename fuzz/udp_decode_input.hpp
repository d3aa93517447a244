#pragma once

#include "conduits/udp/protocol/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

/// The input of udp_decode: datagrams, each behind a record that says what to do with it.
namespace aqueduct::fuzz {

struct Record {
  static constexpr std::uint8_t kAsItIs = 1;  ///< pass it on unchanged; else its header is made to fit
  static constexpr std::uint8_t kWait = 2;    ///< a millisecond passes before it

  std::uint8_t how = 0;
  std::uint8_t zero = 0;
  std::uint16_t bytes = 0;  ///< length of the datagram, which follows
};

/// Returns the next record's datagram and removes both from `input`; empty at the end.
inline std::span<const std::byte> next_record(std::span<const std::byte>& input, Record& record) {
  if (input.size() < sizeof record) return {};
  std::memcpy(&record, input.data(), sizeof record);
  input = input.subspan(sizeof record);
  const auto bytes = input.first(record.bytes < input.size() ? record.bytes : input.size());
  input = input.subspan(bytes.size());
  return bytes;
}

inline void add_record(std::vector<std::byte>& input, std::uint8_t how, std::span<const std::byte> datagram) {
  const Record record{.how = how, .bytes = static_cast<std::uint16_t>(datagram.size())};
  const auto* at = reinterpret_cast<const std::byte*>(&record);
  input.insert(input.end(), at, at + sizeof record);
  input.insert(input.end(), datagram.begin(), datagram.end());
}

}  // namespace aqueduct::fuzz
