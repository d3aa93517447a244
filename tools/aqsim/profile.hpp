#pragma once

#include "sim/network.hpp"

#include <string>
#include <string_view>

namespace aqueduct::aqsim {

/// The network of a profile that `aqperf calibrate` has written (docs/network-model.md). Without `hosts` all ranks are on one host
/// if the profile has a level inside a host, otherwise on a host each. With them the profile must have the levels that
/// these hosts use. Puts of several runs go as the profile's conduit does them.
/// Errors: BadInput, if the file is no profile, of another machine, of another version than this program reads, or without
///         a level that `hosts` needs.
sim::Network load_profile(const std::string& file, const sim::HostList& hosts = {});
/// From the text of a file; `file` is for messages.
sim::Network network_of_profile(std::string_view text, const std::string& file,
                                const sim::HostList& hosts = {});

}  // namespace aqueduct::aqsim
