// GASNet's tools: backtraces.

#include "compat/gasnet/tools.hpp"

#include <execinfo.h>
#include <gasnet_tools.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

// Defined by a client that has a mechanism of its own.
extern "C" [[gnu::weak]] gasnett_backtrace_type_t gasnett_backtrace_user;

namespace aqueduct::gasnet {
namespace {

using Printer = int (*)(int fd);  // returns 0 if it has printed a backtrace
using Printers = std::array<Printer, 4>;

int print_by_libc(int fd) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  if (count <= 0) return 1;
  backtrace_symbols_fd(frames, count, fd);
  return 0;
}
int print_by(const Printers& printers, int fd) {
  for (const Printer print : printers) {
    if (print != nullptr && print(fd) == 0) return 0;
  }
  return 1;
}

/// The mechanisms of GASNET_BACKTRACE_TYPE, in its order.
Printers wanted_printers() {
  const char* const wanted = gasnett_getenv("GASNET_BACKTRACE_TYPE");
  const bool has_user = &gasnett_backtrace_user != nullptr && gasnett_backtrace_user.fnp != nullptr;
  const std::string types = wanted != nullptr && *wanted != 0 ? wanted
                            : has_user ? std::string(gasnett_backtrace_user.name) + ",EXECINFO"
                                       : "EXECINFO";
  Printers printers{};
  std::size_t count = 0;
  for (std::size_t at = 0; at <= types.size() && count < printers.size();) {
    const std::size_t end = std::min(types.find(',', at), types.size());
    const std::string type = types.substr(at, end - at);
    at = end + 1;
    if (has_user && type == gasnett_backtrace_user.name) {
      printers[count++] = gasnett_backtrace_user.fnp;
    } else if (type == "EXECINFO") {
      printers[count++] = print_by_libc;
    }
  }
  return printers;
}

/// Whether a list of ranks such as "0,2-4" has this one. One that is empty or "*" has all.
bool is_in(std::string_view list, std::uint32_t rank) {
  if (list.empty() || list == "*") return true;
  const std::string_view whole = list;
  while (!list.empty()) {
    const std::string one(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    unsigned first = 0, last = 0;
    int read = 0;
    if (std::sscanf(one.c_str(), " %u %n", &first, &read) != 1) read = -1;
    last = first;
    if (read > 0 && one[static_cast<std::size_t>(read)] == '-') {
      int more = 0;
      if (std::sscanf(one.c_str() + read, "- %u %n", &last, &more) != 1) read = -1;
      read += more;
    }
    if (read < 0 || static_cast<std::size_t>(read) != one.size()) {
      std::fprintf(
          stderr,
          "*** GASNet: GASNET_BACKTRACE_NODES='%s' is not a list such as 0,2-4; all ranks are meant\n",
          std::string(whole).c_str());
      return true;
    }
    if (first <= rank && rank <= last) return true;
  }
  return false;
}

int print_if_enabled(int fd) {
  if (!backtraces_are_wanted()) return 1;
  return gasnett_print_backtrace(fd);
}
std::string& executable() {
  static std::string* const path = new std::string;
  return *path;
}
Printers prepared{};

}  // namespace

bool backtraces_are_wanted() {
  if (!gasnett_getenv_yesno_withdefault("GASNET_BACKTRACE", 0)) return false;
  const std::uint32_t rank = rank_here;
  return rank == kNoJob || is_in(gasnett_getenv_withdefault("GASNET_BACKTRACE_NODES", ""), rank);
}
void prepare_backtraces() {
  prepared = wanted_printers();
  // The first call loads a library, which a handler of signals must not do.
  void* frame = nullptr;
  static_cast<void>(backtrace(&frame, 1));
}
int print_prepared_backtrace(int fd) noexcept { return print_by(prepared, fd); }

}  // namespace aqueduct::gasnet

using namespace aqueduct::gasnet;

extern "C" {

int (*gasnett_print_backtrace_ifenabled)(int fd) = print_if_enabled;

void gasnett_backtrace_init(const char* exename) {
  if (exename != nullptr) executable() = exename;
}
int gasnett_print_backtrace(int fd) { return print_by(wanted_printers(), fd); }
}
