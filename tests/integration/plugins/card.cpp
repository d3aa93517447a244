// A plug-in for hardware that is missing, unless its setting says that it is there.
#include "core/network.hpp"

namespace {
using namespace aqueduct;

constexpr SettingInfo kSettings[] = {
    {"card_ports", "AQUEDUCT_CARD_PORTS", SettingType::number, "", "0", "how many ports to pretend", 0, 4},
};

core::Usability probe(const Config& config) {
  if (config.number("card_ports") == 0) return {false, "no card with a port that is up"};
  return {true, "a card", core::Wire::hardware};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  process.log->error("the card is a pretence");
  return ErrorCode::network_failed;
}

const core::ConduitEntry kEntry{.name = "card",
                                .summary = "a card that is not there",
                                .crosses_hosts = true,
                                .preference = 5,
                                .settings = kSettings,
                                .probe = probe,
                                .make = make};
}  // namespace

extern "C" const aqueduct::core::ConduitEntry* aqueduct_conduit() { return &kEntry; }
