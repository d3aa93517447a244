// Answers of a PMI-1 process manager: lines, the mapping of processes to nodes, and bytes encoded as letters.
#include "bootstrap/pmi1_wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace aqueduct::bootstrap;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Reads every field of a line: as text, as a number, as a mapping of nodes and as letters.
void ask_of(const pmi1::Line& line) {
  for (const char* name :
       {"cmd", "rc", "msg", "value", "key", "kvsname", "kvslen_max", "keylen_max", "vallen_max", "size"}) {
    const auto text = line.field(name);
    const auto number = line.number(name);
    require(!number || text);
    if (!text) continue;
    require(text->find(' ') == std::string_view::npos);
    static_cast<void>(pmi1::node_of(*text, 0));
    static_cast<void>(pmi1::node_of(*text, 0xffffffff));
    if (const auto bytes = pmi1::from_letters(*text))
      require(pmi1::from_letters(pmi1::to_letters(*bytes)) == *bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  pmi1::Connection connection(ends[0]);
  // Fits into a socket buffer; longer inputs would test nothing new.
  const std::size_t sent = size < 32768 ? size : 32768;
  require(sent == 0 || ::write(ends[1], data, sent) == static_cast<ssize_t>(sent));
  ::shutdown(ends[1], SHUT_WR);
  for (;;) {
    const auto line = connection.ask("cmd=get\n", "get_result", std::chrono::milliseconds(100));
    if (line) ask_of(*line);
    if (connection.trouble() != pmi1::Connection::Trouble::none &&
        connection.trouble() != pmi1::Connection::Trouble::garbage)
      break;
    if (!line && connection.is_closed()) break;
  }
  ::close(ends[1]);
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  ask_of(pmi1::Line(std::string(all)));
  static_cast<void>(pmi1::node_of(all, 7));
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto back = pmi1::from_letters(pmi1::to_letters(bytes));
  require(back && std::equal(bytes.begin(), bytes.end(), back->begin(), back->end()));
  return 0;
}
