#pragma once

#include "core/nearest_name.hpp"
#include "core/network.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::conduits {

/// A conduit of this installation: compiled in, or a plug-in from one of the folders for them.
struct Available {
  std::string name;
  const core::ConduitEntry* entry = nullptr;  ///< null: a plug-in that could not be loaded
  std::string file;                           ///< a plug-in's file; empty: compiled in
  std::string problem;                        ///< why it could not be loaded, in words
  ErrorCode code = ErrorCode::ok;             ///< version_mismatch: built against another conduit interface
};

/// All conduits, the compiled-in ones first. The first call searches for plug-ins and loads them for good.
const std::vector<Available>& all();
/// Whether the text is the file of a plug-in rather than a name: it contains a '/', which names never do.
bool is_path(std::string_view name_or_path) noexcept;
/// The conduit with this name or file; null if no conduit has it. Searches for plug-ins only if no conduit that is
/// compiled in has the name.
const Available* find(std::string_view name_or_path);
/// In words: "smp, loop, udp".
std::string names();
/// The name most like `word`, for messages about a misspelt conduit.
core::NearestName nearest(std::string_view word);

/// The folders to search for plug-ins, in this order: those of AQUEDUCT_PLUGIN_PATH, then those of this
/// installation, relative to the library's own file. A plug-in's file is NAME.so, with the conduit's name.
std::vector<std::string> plugin_folders();

/// The plug-in in this file, in whatever folder. The first call loads it; later calls return the same.
const Available& at_path(const std::string& file);
/// All plug-ins that `at_path` has been asked for.
std::vector<const Available*> known_by_path();

}  // namespace aqueduct::conduits
