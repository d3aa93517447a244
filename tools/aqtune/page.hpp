#pragma once

#include <string>

namespace aqueduct::aqtune {

/// Writes a page with the decisions of a file of decisions. Errors: BadInput, if one of the files is none.
void write_page(const std::string& file, const std::string& decisions_file);
/// Fails if the page cannot be written: before the search, which takes longer. Errors: BadInput.
void check_page(const std::string& file);

}  // namespace aqueduct::aqtune
