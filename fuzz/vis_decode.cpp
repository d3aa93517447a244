// Descriptions of pieces in a peer's packet. The input is a form, a base, a segment's size and the
// amount of data, followed by the description. Every piece that the decoder returns is touched, so that
// the sanitizers find one outside the segment.
#include "vis/decode.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aqueduct;
  struct Head {
    std::uint8_t form;
    std::uint8_t reserved;
    std::uint16_t limit;
    std::uint32_t data;
    std::uint64_t base;
  } head;
  if (size < sizeof head) return 0;
  std::memcpy(&head, data, sizeof head);
  const std::size_t described = size - sizeof head;
  // Memory of exactly this length, so that the sanitizer finds reads beyond it.
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(described);
  if (described != 0) std::memcpy(copy.get(), data + sizeof head, described);
  const auto segment = std::make_unique<unsigned char[]>(head.limit);
  const std::uint64_t bytes = head.data % 65536;
  vis::Decoder decoder(static_cast<vis::DescriptionKind>(head.form % 4), {copy.get(), described}, head.base,
                       head.limit, bytes);
  vis::Row row;
  std::uint64_t sum = 0;
  while (decoder.next(row)) {
    if (row.count == 0 || row.bytes == 0) std::abort();  // such a row would never end
    for (std::uint64_t i = 0; i < row.count; ++i) {
      for (std::uint64_t k = 0; k < row.bytes; ++k) segment[row.place(i) + k] += 1;
    }
    sum += row.count * row.bytes;
    if (sum > bytes) std::abort();
  }
  if (decoder.good() && sum != bytes) std::abort();
  return 0;
}
