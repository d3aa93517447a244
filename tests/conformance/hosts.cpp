#include "tests/conformance/hosts.hpp"

#include "tests/support/network_namespaces.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace aqueduct::conformance {

namespace {

using support::NetworkNamespaces;

/// The hosts during one run of the kit.
class Hosts : public testing::Environment {
 public:
  /// Makes the hosts with these faults; returns why that is not possible, or nothing.
  std::string prepare(const Weather& weather) {
    if (!asked_) {
      asked_ = true;
      if (NetworkNamespaces::usable(problem_)) problem_ = namespaces_.emplace(kMostHosts).problem();
    }
    if (!problem_.empty() || weather == weather_) return problem_;
    std::string why;
    if (weather.lost_per_mille > 0 && !NetworkNamespaces::can_drop(why)) return why;
    if (!weather.netem.empty() && !NetworkNamespaces::can_disturb(why)) return why;
    change_to(weather);
    return problem_ = namespaces_->problem();
  }
  void TearDown() override {
    namespaces_.reset();
    problem_.clear();
    weather_ = {};
    asked_ = false;
  }
  Settings enter(std::uint32_t host) const {
    if (!namespaces_->enter(host)) {
      ADD_FAILURE() << "cannot enter " << namespaces_->name(host) << ": " << std::strerror(errno);
    }
    return {{"host_id", namespaces_->name(host)}};
  }

 private:
  void change_to(const Weather& weather) {
    for (unsigned host = 0; host < kMostHosts; ++host) {
      if (weather_.lost_per_mille > 0) namespaces_->drop_no_more(host);
      if (!weather_.netem.empty()) namespaces_->disturb_no_more(host);
      if (weather.lost_per_mille > 0) namespaces_->drop(host, weather.lost_per_mille);
      if (!weather.netem.empty()) namespaces_->disturb(host, weather.netem);
    }
    weather_ = weather;
  }

  bool asked_ = false;
  Weather weather_;
  std::string problem_;
  std::optional<NetworkNamespaces> namespaces_;
};

/// GoogleTest owns the object and tells it when the run ends. Made once, because fabrics are listed many times.
Hosts& hosts() {
  static Hosts* const hosts = [] {
    auto* made = new Hosts;
    testing::AddGlobalTestEnvironment(made);
    return made;
  }();
  return *hosts;
}

}  // namespace

Fabric over_hosts(Fabric fabric, std::function<std::uint32_t(std::uint32_t process)> host_of,
                  Weather weather) {
  Hosts& all = hosts();
  fabric.processes = 0;
  fabric.prepare = [&all, weather = std::move(weather)] { return all.prepare(weather); };
  fabric.enter = [&all, host_of = std::move(host_of)](std::uint32_t process) {
    return all.enter(host_of(process) % kMostHosts);
  };
  return fabric;
}

}  // namespace aqueduct::conformance
