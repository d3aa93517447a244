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
  std::string file;                           ///< of a plug-in; empty: compiled in
  std::string problem;                        ///< why it could not be loaded, for people
  ErrorCode code = ErrorCode::ok;             ///< version_mismatch: built against another conduit interface
};

/// All of them, those compiled in first. Plug-ins are looked for at the first call, and stay loaded.
const std::vector<Available>& all();
/// Whether what names a conduit is the file of a plug-in: it has a '/', as names never have.
bool is_path(std::string_view name_or_path) noexcept;
/// By its name or file; null if there is none of that name. Looks for plug-ins only if it is not compiled in.
const Available* find(std::string_view name_or_path);
/// For people: "smp, loop, udp".
std::string names();
/// Which name is most like `word`: to be asked for it, or for words to say so.
core::NearestName nearest(std::string_view word);

/// Where plug-ins are looked for, in this order: the folders of AQUEDUCT_PLUGIN_PATH, then those that belong to this
/// installation, seen from where the library lies. Files are called NAME.so, as the conduit is.
std::vector<std::string> plugin_folders();

/// The plug-in in this file, wherever it lies. It is loaded at the first call and known from then on.
const Available& at_path(const std::string& file);
/// What has been asked for so.
std::vector<const Available*> known_by_path();

}  // namespace aqueduct::conduits
