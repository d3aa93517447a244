#include "tests/conformance/hosts.hpp"

#include "tests/support/network_namespaces.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace aqueduct::conformance {

namespace {

using support::NetworkNamespaces;

/// The hosts of one run of the kit.
class Hosts : public testing::Environment {
 public:
  /// What stands in the way of having them, or nothing.
  const std::string& prepare() {
    if (!asked_) {
      asked_ = true;
      if (NetworkNamespaces::usable(problem_)) problem_ = namespaces_.emplace(kMostHosts).problem();
    }
    return problem_;
  }
  void TearDown() override {
    namespaces_.reset();
    problem_.clear();
    asked_ = false;
  }
  Settings enter(std::uint32_t host) const {
    if (!namespaces_->enter(host)) {
      ADD_FAILURE() << "cannot enter " << namespaces_->name(host) << ": " << std::strerror(errno);
    }
    return {{"host_id", namespaces_->name(host)}};
  }

 private:
  bool asked_ = false;
  std::string problem_;
  std::optional<NetworkNamespaces> namespaces_;
};

/// GoogleTest owns it, and tells it when the run is over; fabrics are listed many times.
Hosts& hosts() {
  static Hosts* const hosts = [] {
    auto* made = new Hosts;
    testing::AddGlobalTestEnvironment(made);
    return made;
  }();
  return *hosts;
}

}  // namespace

Fabric over_hosts(Fabric fabric, std::function<std::uint32_t(std::uint32_t process)> host_of) {
  Hosts& all = hosts();
  fabric.processes = 0;
  fabric.prepare = [&all] { return all.prepare(); };
  fabric.enter = [&all, host_of = std::move(host_of)](std::uint32_t process) {
    return all.enter(host_of(process) % kMostHosts);
  };
  return fabric;
}

}  // namespace aqueduct::conformance
