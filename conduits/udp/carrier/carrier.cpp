#include "conduits/udp/carrier/carrier.hpp"

#include <fmt/format.h>

#include <cstring>

namespace aqueduct::conduits::udp {

std::string Carrier::troubles() const {
  const Counters& counted = counters();
  std::string text;
  if (counted.refused != counted.too_long)
    text += fmt::format("; {} datagrams refused by this system, last: {}", counted.refused - counted.too_long,
                        std::strerror(last_error()));
  if (counted.too_long != 0)
    text += fmt::format("; {} datagrams too long for this system's interface", counted.too_long);
  if (counted.overflowed != 0)
    text += fmt::format("; {} arriving datagrams dropped because the receive buffer was full",
                        counted.overflowed);
  if (counted.truncated != 0)
    text += fmt::format("; {} arriving datagrams dropped because they were too long", counted.truncated);
  return text;
}

}  // namespace aqueduct::conduits::udp
