#include "conduits/udp/carrier/fault_plan.hpp"

#include "core/settings.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace aqueduct::conduits::udp {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kShares[] = {{"%", 0.01}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", kMicrosecond}, {"ms", kMillisecond}, {"s", kSecond}};
constexpr Unit kBytes[] = {{"", 1}, {"K", 1024}, {"M", 1024.0 * 1024}, {"G", 1024.0 * 1024 * 1024}};

// Parses a non-negative number with one of the units; returns the product.
std::optional<double> read(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& one : units) {
    if (one.name == unit) return number * one.factor;
  }
  return std::nullopt;
}

bool read_share(std::string_view text, double& into) {
  const auto value = read(text, kShares);
  if (!value || *value > 1) return false;
  into = *value;
  return true;
}

bool read_time(std::string_view text, Time& into) {
  const auto value = read(text, kTimes);
  if (!value || *value > 60.0 * kSecond) return false;
  into = static_cast<Time>(*value);
  return true;
}

bool read_bytes(std::string_view text, std::size_t& into) {
  const auto value = read(text, kBytes);
  if (!value || *value > 1e12) return false;
  into = static_cast<std::size_t>(*value);
  return true;
}

bool read_rate(std::string_view text, double& into) {
  const auto value = read(text, kBytes);
  if (!value || *value > 1e12) return false;
  into = *value;
  return true;
}

bool read_seed(std::string_view text, std::uint64_t& into) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
  return problem == std::errc{} && end == text.data() + text.size();
}

constexpr const char* kShare = "a percentage from 0% to 100%, as in 2.5%";
constexpr const char* kTime = "a time from 0 to 60 s with its unit (ns, us, ms or s), as in 0.5ms";
constexpr const char* kSize = "a number of bytes, as in 1400 or 64K";

struct NamedFault {
  std::string_view name;
  const char* allowed;
  bool (*read)(std::string_view text, FaultPlan& into);
};

constexpr NamedFault kFaults[] = {
    {"loss", kShare, [](std::string_view text, FaultPlan& plan) { return read_share(text, plan.loss); }},
    {"delay", kTime, [](std::string_view text, FaultPlan& plan) { return read_time(text, plan.delay); }},
    {"jitter", kTime, [](std::string_view text, FaultPlan& plan) { return read_time(text, plan.jitter); }},
    {"reorder", kShare,
     [](std::string_view text, FaultPlan& plan) { return read_share(text, plan.reorder); }},
    {"hold", kTime, [](std::string_view text, FaultPlan& plan) { return read_time(text, plan.hold); }},
    {"duplicate", kShare,
     [](std::string_view text, FaultPlan& plan) { return read_share(text, plan.duplicate); }},
    {"corrupt", kShare,
     [](std::string_view text, FaultPlan& plan) { return read_share(text, plan.corrupt); }},
    {"corrupt_bytes", kSize,
     [](std::string_view text, FaultPlan& plan) { return read_bytes(text, plan.corrupt_bytes); }},
    {"mtu", kSize, [](std::string_view text, FaultPlan& plan) { return read_bytes(text, plan.mtu); }},
    {"rate", "bytes per second, as in 100M",
     [](std::string_view text, FaultPlan& plan) { return read_rate(text, plan.rate); }},
    {"queue", kSize, [](std::string_view text, FaultPlan& plan) { return read_bytes(text, plan.queue); }},
    {"seed", "a whole number",
     [](std::string_view text, FaultPlan& plan) { return read_seed(text, plan.seed); }},
};

std::string names() {
  std::string all;
  for (const NamedFault& fault : kFaults) all += (all.empty() ? "" : ", ") + std::string(fault.name);
  return all;
}

// Parses one "name=value". Returns what is wrong with it; empty if it is valid.
std::string read_fault(std::string_view text, FaultPlan& plan) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return fmt::format("AQUEDUCT_UDP_FAULTS: \"{}\" has no value; write name=value, as in loss=1%",
                       core::quoted(text));
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  for (const NamedFault& fault : kFaults) {
    if (fault.name != name) continue;
    if (fault.read(value, plan)) return {};
    return fmt::format("AQUEDUCT_UDP_FAULTS: {} is \"{}\"; it must be {}", name, core::quoted(value),
                       fault.allowed);
  }
  return fmt::format("AQUEDUCT_UDP_FAULTS: there is no fault \"{}\"; there are {}", core::quoted(name),
                     names());
}

}  // namespace

bool FaultPlan::any() const noexcept {
  return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay > 0 || jitter > 0 || mtu > 0 ||
         rate > 0;
}

ParsedFaultPlan parse_fault_plan(std::string_view text) {
  FaultPlan plan;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (std::string problem = read_fault(text.substr(0, comma), plan); !problem.empty()) return {{}, problem};
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  if (plan.jitter > plan.delay) {
    return {{},
            "AQUEDUCT_UDP_FAULTS: the jitter is longer than the delay that it varies; raise delay, or lower "
            "jitter"};
  }
  return {plan, {}};
}

}  // namespace aqueduct::conduits::udp
