// GASNet's tools: backtraces.

#include "compat/gasnet/tools.hpp"

#include <execinfo.h>
#include <gasnet_tools.h>

#include <algorithm>
#include <array>
#include <string>

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

int print_if_enabled(int fd) {
  if (!gasnett_getenv_yesno_withdefault("GASNET_BACKTRACE", 0)) return 1;
  return gasnett_print_backtrace(fd);
}
std::string& executable() {
  static std::string* const path = new std::string;
  return *path;
}
Printers prepared{};

}  // namespace

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
