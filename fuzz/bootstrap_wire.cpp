// Frames between a process and its launcher, in either direction: a stream in pieces of any length. A frame that can
// be read must be encoded to the same bytes.
#include "bootstrap/wire.hpp"

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aqueduct::bootstrap;
  auto input = std::as_bytes(std::span(data, size));
  if (input.empty()) return 0;
  const std::size_t piece = 1 + std::to_integer<std::size_t>(input[0]);  // how many bytes arrive at a time
  input = input.subspan(1);
  wire::Frames frames;
  while (!input.empty()) {
    const auto arrived = input.first(piece < input.size() ? piece : input.size());
    input = input.subspan(arrived.size());
    frames.append(arrived);
    for (;;) {
      auto message = frames.next();
      if (!message) return 0;
      if (!*message) break;
      const wire::Blob frame = wire::encode(**message);
      const auto again = wire::decode(std::span(frame).subspan(4));
      if (!again || *again != **message) std::abort();
    }
  }
  return 0;
}
