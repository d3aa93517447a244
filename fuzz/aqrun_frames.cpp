// Frames between aqrun and its agent, in either direction: a stream in pieces of any length. A frame that can
// be read must be encoded to the same bytes.
#include "tools/aqrun/agent_setup.hpp"
#include "tools/aqrun/frame.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const std::size_t piece = 1 + static_cast<unsigned char>(input[0]);  // how many bytes arrive at a time
  input.remove_prefix(1);
  aqrun::FrameReader frames;
  aqrun::AgentSetup setup;
  while (!input.empty()) {
    const std::string_view arrived = input.substr(0, piece);
    input.remove_prefix(arrived.size());
    frames.append(arrived);
    while (auto frame = frames.next()) {
      aqrun::FrameReader again;
      again.append(aqrun::encode(*frame));
      if (again.next() != frame || !again.rest().empty()) std::abort();
      static_cast<void>(aqrun::complaint_about_hello(*frame));
      if (!setup.complete) setup.take(*frame);
    }
    if (frames.broken() && frames.next()) std::abort();
  }
  for (const std::uint32_t ranks : setup.ranks_of_processes()) {
    if (ranks == 0) std::abort();
  }
  return 0;
}
