// GASNet's tools: numbers in variables, with units of memory.

#include <gasnet_tools.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Unit {
  const char* names;  ///< its first letter, in both cases
  const char* text;
  int shift;
};
constexpr Unit kUnits[] = {
    {"Tt", "TB", 40}, {"Gg", "GB", 30}, {"Mm", "MB", 20}, {"Kk", "KB", 10}, {"Bb", "B", 0}};

constexpr const char* kBlanks = " \t";

}  // namespace

extern "C" {

char* gasnett_format_number(int64_t val, char* buf, size_t bufsz, int is_mem_size) {
  if (is_mem_size == 0 || val == 0) {
    std::snprintf(buf, bufsz, "%lld%s", static_cast<long long>(val), is_mem_size != 0 ? " B" : "");
    return buf;
  }
  for (const Unit& unit : kUnits) {
    const int64_t factor = int64_t{1} << unit.shift;
    if (val % factor != 0) continue;
    std::snprintf(buf, bufsz, "%lld %s", static_cast<long long>(val / factor), unit.text);
    break;
  }
  return buf;
}
// As GASNet's: what follows the number and its unit is ignored, and a number of more than 64 bits wraps around.
int64_t gasnett_parse_int(const char* str, uint64_t mem_size_multiplier) {
  if (str == nullptr) return 0;
  const char* at = str + std::strspn(str, kBlanks);
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  at += std::strspn(at, kBlanks);
  const bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  if (hex) at += 2;
  uint64_t whole = 0;
  for (; hex ? std::isxdigit(static_cast<unsigned char>(*at)) : std::isdigit(static_cast<unsigned char>(*at));
       ++at) {
    const int digit = std::isdigit(static_cast<unsigned char>(*at))
                          ? *at - '0'
                          : std::tolower(static_cast<unsigned char>(*at)) - 'a' + 10;
    whole = whole * (hex ? 16 : 10) + static_cast<uint64_t>(digit);
  }
  std::string fraction = "0";
  if (*at == '.') {
    if (hex) gasnett_fatalerror_nopos("'%s' is not a number", str);
    const std::size_t digits = 1 + std::strspn(at + 1, "0123456789");
    fraction.append(at, digits);  // no exponent, which strtod would take
    at += digits;
  }
  at += std::strspn(at, kBlanks);
  uint64_t factor = 1;
  if (mem_size_multiplier != 0) {
    factor = mem_size_multiplier;
    for (const Unit& unit : kUnits) {
      if (*at != 0 && std::strchr(unit.names, *at) != nullptr) factor = uint64_t{1} << unit.shift;
    }
  }
  const double more = std::strtod(fraction.c_str(), nullptr) * static_cast<double>(factor);
  const uint64_t sum = whole * factor + static_cast<uint64_t>(more);
  return static_cast<int64_t>(negative ? uint64_t{0} - sum : sum);
}
}
